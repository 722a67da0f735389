"""POST /api/route and /api/config/llm: which way a text would be answered, and by whose model."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import llm_settings, routing

handler = http_handler(routing.router, llm_settings.router)
