"""The application: the same for the local server, each Lambda with its own routers, and the tests."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from tertulia.assistant import Assistant
from tertulia.entrypoints.http.context import Surroundings
from tertulia.entrypoints.http.deadlines import Deadlines
from tertulia.entrypoints.http.errors import Crashes, tell_failures
from tertulia.entrypoints.http.guards import Origins, RequestIds, StagePrefix
from tertulia.entrypoints.http.limits import BodyLimits

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
    assistant: Assistant, routers: Sequence[APIRouter] | None = None, surroundings: Surroundings | None = None
) -> FastAPI:
    """Build the application over an assistant, with the page and all routers or a Lambda's own."""
    surroundings = surroundings or Surroundings.of(assistant.settings)
    app = FastAPI(openapi_url=None)
    app.state.assistant = assistant
    app.state.surroundings = surroundings
    app.state.door = surroundings.door(assistant)
    tell_failures(app)
    if routers is None:
        _serve_everything(app)
    for router in routers or ():
        app.include_router(router)
    _guard(app, surroundings)
    return app


def _serve_everything(app: FastAPI) -> None:
    # A Lambda that has just begun would have its first client wait for the routes of all others.
    from tertulia.entrypoints.http.every_route import ROUTERS
    from tertulia.entrypoints.http.page import mount_page
    from tertulia.entrypoints.http.routers import description

    for router in (description.router, *ROUTERS):
        app.include_router(router)
    mount_page(app)


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
