"""POST /api/chat and its relatives: typed turns, and the turns under way."""

from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.routers import actions, chat, confirmations, scenarios, screen_chat, tools, turns

handler = http_handler(
    chat.router, screen_chat.router, scenarios.router, turns.router, tools.router, confirmations.router, actions.router
)
