"""The way in for requests on Lambda: API Gateway's events, answered by the routes of a function."""

import asyncio
import logging
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from aws_lambda_powertools.utilities.typing import LambdaContext
from starlette.types import Send

from tertulia.domain.errors import InvalidRequest, TertuliaError
from tertulia.entrypoints import cloud
from tertulia.entrypoints.cloud import Environment, cloud_settings, environment, seconds_left
from tertulia.entrypoints.gateway.large_answers import put_aside
from tertulia.entrypoints.gateway.requests import Event, GatewayRequest
from tertulia.entrypoints.gateway.responses import WholeResponse, has_failed, refusal
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.http.deadlines import DEADLINE
from tertulia.entrypoints.http.errors import REQUEST_ID
from tertulia.entrypoints.streaming.post import Post
from tertulia.entrypoints.streaming.response import PostedResponse, StreamResponse

if TYPE_CHECKING:
    from fastapi import APIRouter

__all__ = ["STREAMED_ROUTES", "Environment", "HttpHandler", "cloud_settings", "environment", "http_handler"]

STREAMED_ROUTES = frozenset(
    {"/api/chat/stream", "/api/voice", "/api/tts", "/api/turns/{turn_id}/events", "/api/events"}
)
"""Routes whose answers are streamed where streaming is on, but to OPTIONS; the API must be told the same of them."""
SECONDS_TO_STORE = 2.0
"""How long before the end of a call its turns are stopped, so that what was said is told and stored."""
SECONDS_TO_LEAVE = 0.5
"""How long before it the application learns that its client will not get more, and may still say so."""

logger = logging.getLogger(__name__)


class Served:
    """The routes of a function in their environment."""

    def __init__(self, environment: Environment, routers: "tuple[APIRouter, ...]") -> None:
        self._environment = environment
        self._app = create_app(environment.assistant, routers)
        self._settings = environment.assistant.settings

    def __call__(self, event: object, context: LambdaContext) -> Event | StreamResponse:
        """Answer an event, or return what streams the answer."""
        around = self._environment.telemetry.around
        try:
            request = GatewayRequest.of(event, context)
        except InvalidRequest as error:
            logger.warning("an event that is no request")
            return refusal(error, event, context)
        if self._settings.streaming and request.route in STREAMED_ROUTES and request.scope["method"] != "OPTIONS":
            return StreamResponse(lambda post: around(partial(self._stream, request, post), has_failed)(event, context))
        answer: Event = around(partial(self._answer, request), has_failed)(event, context)
        return answer

    def _answer(self, request: GatewayRequest, _: object, context: LambdaContext) -> Event:
        response = WholeResponse()
        # API Gateway waits less long than Lambda.
        seconds = min(seconds_left(context), self._settings.cloud_seconds)
        if self._environment.run(self._respond(request, response.send, asyncio.Event(), seconds)):
            response.replace(request.scope, TertuliaError())
        return response.answer(request) or self._apart(request, response)

    def _apart(self, request: GatewayRequest, response: WholeResponse) -> Event:
        self._environment.run(put_aside(self._environment.assistant, request, response))
        answer = response.answer(request)
        assert answer is not None  # noqa: S101  # a way or a failure is never too long
        return answer

    def _stream(self, request: GatewayRequest, post: Post, _: object, context: LambdaContext) -> Event:
        response = PostedResponse(post)

        async def responding() -> None:
            failure = await self._respond(request, response.send, response.leaving, seconds_left(context))
            await response.end(request.scope, failure)

        self._environment.run(responding())
        return {"statusCode": response.status}

    async def _respond(
        self, request: GatewayRequest, send: Send, leaving: asyncio.Event, seconds: float
    ) -> Exception | None:
        """Have the application answer, and nothing left running; return what broke the answer off."""
        loop = asyncio.get_running_loop()
        until = request.scope[DEADLINE] = loop.time() + seconds
        endings = (
            loop.call_at(until - SECONDS_TO_STORE, self._stop_turns),
            loop.call_at(until - SECONDS_TO_LEAVE, leaving.set),
        )
        try:
            await self._app(request.scope, request.receive(leaving), send)
        except Exception as error:
            logger.exception("request %s broke off", request.scope[REQUEST_ID], exc_info=error)
            return error
        finally:
            for ending in endings:
                ending.cancel()
            await self._environment.settle(until)
        return None

    def _stop_turns(self) -> None:
        # Reading the part would build it, where no turn was taken.
        if "turns" in vars(self._environment.assistant):
            self._environment.assistant.turns.stop_all()


@dataclass(frozen=True, eq=False)
class HttpHandler:
    """A Lambda function that serves the routes of some routers, and loads only what these need."""

    routers: "tuple[APIRouter, ...]"
    _served: WeakKeyDictionary[Environment, Served] = field(default_factory=WeakKeyDictionary, init=False, repr=False)

    def __call__(self, event: object, context: LambdaContext) -> Event | StreamResponse:
        """Answer an event of API Gateway, of a REST API or an HTTP API."""
        here = cloud.environment()
        if here not in self._served:
            self._served[here] = Served(here, self.routers)
        return self._served[here](event, context)


def http_handler(*routers: "APIRouter") -> HttpHandler:
    """Return the handler of a function for these routers."""
    return HttpHandler(routers)
