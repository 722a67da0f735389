"""Server-sent events: how one is written, and the response that writes them until the turn ends or the client leaves."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tertulia.domain.errors import TertuliaError
from tertulia.domain.prompts import Json

PING = b": ping\n\n"
RETRY = b"retry: 5000\n\n"
PING_SECONDS = 15.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerEvent:
    """One event: its name, its data, and its number in the stream."""

    name: str
    data: Mapping[str, Json]
    number: int


def encoded(event: ServerEvent) -> bytes:
    """Write an event; JSON escapes every line end, so its data is one line."""
    data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event.name}\ndata: {data}\nid: {event.number}\n\n".encode(errors="replace")


@dataclass(frozen=True, kw_only=True)
class StreamHabits:
    """How streams behave in their surroundings."""

    ping_seconds: float = PING_SECONDS
    refusal_seconds: float = 3.0
    """How long the status waits for the first event, so that a refusal has a status of its own."""
    quiet_seconds: float | None = None
    """After so long without news a stream ends, and the client comes back for more; None keeps it open."""


class EventStream(Response):
    """Sends events as they come. A failure before the first of them is still a failure with its own status."""

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[ServerEvent],
        habits: StreamHabits,
        headers: Mapping[str, str] | None = None,
        when_left: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._events = events
        self._habits = habits
        self._when_left = when_left
        self._has_started = False
        self._last = 0

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send the events; a client that leaves closes them first, then `when_left` is called."""
        gone = asyncio.create_task(_disconnected(receive))
        has_left = False
        try:
            has_left = await self._pump(send, gone)
        finally:
            gone.cancel()
            await self._events.aclose()
            if has_left:
                self._when_left()

    async def _pump(self, send: Send, gone: asyncio.Task[None]) -> bool:
        """Send until the stream ends; return whether the client left before that."""
        coming = asyncio.create_task(self._next())
        quiet = 0.0
        try:
            while True:
                done, _ = await asyncio.wait({coming, gone}, timeout=self._pause(quiet), return_when="FIRST_COMPLETED")
                if gone in done:
                    return True
                if coming not in done:
                    quiet += self._pause(quiet)
                    if self._is_over(quiet):
                        return await self._end(send, RETRY)
                    await self._write(send, PING)
                    continue
                event = await self._taken(coming)
                if event is None:
                    return await self._end(send)
                quiet, self._last = 0.0, event.number
                await self._write(send, encoded(event))
                coming = asyncio.create_task(self._next())
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await coming

    def _pause(self, quiet: float) -> float:
        left = float("inf") if self._habits.quiet_seconds is None else self._habits.quiet_seconds - quiet
        patience = self._habits.ping_seconds if self._has_started else self._habits.refusal_seconds
        return max(0.0, min(self._habits.ping_seconds, patience, left))

    def _is_over(self, quiet: float) -> bool:
        return self._habits.quiet_seconds is not None and quiet >= self._habits.quiet_seconds

    async def _next(self) -> ServerEvent | None:
        return await anext(self._events, None)

    async def _taken(self, coming: asyncio.Task[ServerEvent | None]) -> ServerEvent | None:
        """Return the event that has come; once the stream runs, a failure is its last event."""
        try:
            return await coming
        except TertuliaError as error:
            if not self._has_started:
                raise
            return self._failure(error)
        except Exception as error:
            if not self._has_started:
                raise
            logger.exception("a stream failed", exc_info=error)
            return self._failure(TertuliaError())

    def _failure(self, error: TertuliaError) -> ServerEvent:
        return ServerEvent("error", {"code": error.code, "message": error.message}, self._last + 1)

    async def _end(self, send: Send, last_words: bytes = b"") -> bool:
        await self._write(send, last_words, more=False)
        return False

    async def _write(self, send: Send, body: bytes, *, more: bool = True) -> None:
        if not self._has_started:
            self._has_started = True
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": body, "more_body": more})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
