"""All routers: a Lambda imports its own only."""

from fastapi import APIRouter

from tertulia.entrypoints.http.routers import (
    account,
    chat,
    conversation_search,
    conversations,
    description,
    events,
    health,
    memories,
    routing,
    scenarios,
    screen_chat,
    session,
    speech,
    tools,
    turns,
    uploads,
    usage,
    voice,
)

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    description.router,
    conversations.router,
    conversation_search.router,
    chat.router,
    screen_chat.router,
    voice.router,
    speech.router,
    routing.router,
    scenarios.router,
    turns.router,
    tools.router,
    uploads.router,
    uploads.taking,
    session.router,
    account.router,
    usage.router,
    memories.router,
    events.router,
)
