"""/api/memories: what the assistant remembers of the user."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import memories

handler = http_handler(memories.router)
