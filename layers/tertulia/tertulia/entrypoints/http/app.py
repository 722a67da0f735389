"""The application: the same for the local server, each Lambda with its own routers, and the tests."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from tertulia import __version__
from tertulia.assistant import Assistant
from tertulia.entrypoints.http.context import Surroundings
from tertulia.entrypoints.http.deadlines import Deadlines
from tertulia.entrypoints.http.documents import document
from tertulia.entrypoints.http.errors import Crashes, tell_failures
from tertulia.entrypoints.http.guards import Origins, RequestIds, StagePrefix
from tertulia.entrypoints.http.limits import BodyLimits
from tertulia.entrypoints.http.page import mount_page
from tertulia.entrypoints.http.routers import (
    account,
    chat,
    conversations,
    events,
    health,
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
    conversations.router,
    chat.router,
    screen_chat.router,
    voice.router,
    speech.router,
    routing.router,
    scenarios.router,
    turns.router,
    tools.router,
    uploads.router,
    session.router,
    account.router,
    usage.router,
    events.router,
)
EXPOSED_HEADERS = (
    "X-Request-Id",
    "X-Conversation-Id",
    "X-Turn-Id",
    "X-Route",
    "X-Transcript",
    "X-Response",
    "X-Transcript-Encoded",
    "X-Response-Encoded",
    "X-Audio-Error",
    "Retry-After",
)


def create_app(
    assistant: Assistant, routers: Sequence[APIRouter] = ROUTERS, surroundings: Surroundings | None = None
) -> FastAPI:
    """Build the application over an assistant, with all routers or a Lambda's own."""
    surroundings = surroundings or Surroundings.of(assistant.settings)
    app = FastAPI(
        title="Tertulia",
        version=__version__,
        description="A voice assistant that people own.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # the way FastAPI documents
    app.state.assistant = assistant
    app.state.surroundings = surroundings
    app.state.door = surroundings.door(assistant)
    app.state.live = None
    tell_failures(app)
    for router in routers:
        app.include_router(router)
    if events.router in routers:
        mount_page(app)
    _guard(app, surroundings)
    return app


def _guard(app: FastAPI, surroundings: Surroundings) -> None:
    """Put the guards before the routes, the innermost first."""
    app.add_middleware(BodyLimits, most=surroundings.most_body_bytes)
    app.add_middleware(Deadlines)
    app.add_middleware(Crashes)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=surroundings.origins,
        allow_credentials=True,
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=EXPOSED_HEADERS,
    )
    app.add_middleware(Origins, hosts=surroundings.hosts, origins=surroundings.origins)
    app.add_middleware(StagePrefix)
    app.add_middleware(RequestIds)
