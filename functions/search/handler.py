"""/api/chat/search: past conversations, found by what they were about."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import conversation_search

handler = http_handler(conversation_search.router)
