"""POST /api/route: which way a text would be answered."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import routing

handler = http_handler(routing.router)
