"""/api/chat/conversations: listed, read, deleted."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import conversations

handler = http_handler(conversations.router)
