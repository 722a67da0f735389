"""GET /api/health: whether the way to the functions is open; and /api/openapi.json: what they all answer."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import description, health

handler = http_handler(health.router, description.router)
