"""The HTTP surface: one application, one router for each resource."""

from tertulia.entrypoints.http.begin import import_fastapi

# Here, since every module beneath imports FastAPI by itself.
import_fastapi()
