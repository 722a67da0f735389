"""GET /api/health: whether the way to the functions is open."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import health

handler = http_handler(health.router)
