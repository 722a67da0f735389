"""The time a request has where something outside ends it: an answer comes before that."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tertulia.domain.errors import Unavailable
from tertulia.entrypoints.http.errors import problem

DEADLINE = "tertulia.deadline"
"""Where the end stands in a request's scope, as a time of the event loop's clock; no such thing, no end."""
TOO_SLOW = "This took too long and was given up. Try again shortly."


class Deadlines:
    """Ends what takes too long: with an answer that says so, or in the middle of one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        has_started = False

        async def sending(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            async with asyncio.timeout_at(scope.get(DEADLINE)) as limit:
                await self._app(scope, receive, sending)
        except TimeoutError:
            if has_started or not limit.expired():
                raise
            await problem(scope, Unavailable(TOO_SLOW))(scope, receive, send)
