"""Responses that are sent while they are made."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.types import Message, Scope

from tertulia.domain.errors import TertuliaError
from tertulia.entrypoints.http.errors import problem
from tertulia.entrypoints.streaming.post import Post


@dataclass(frozen=True)
class StreamResponse:
    """What a handler returns to have its answer streamed: called with where to, it makes it."""

    send: Callable[[Post], object]


class PostedResponse:
    """Posts what the application sends, part by part."""

    def __init__(self, post: Post) -> None:
        self.status = 0
        self.leaving = asyncio.Event()
        """Set when the client gets no more of the answer."""
        self._post = post
        self._is_taken = True

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on; when nobody takes it, the application learns that its client has left."""
        if not self._is_taken:
            return
        try:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                await self._post.begin(_prelude(message))
            else:
                await self._post.write(message.get("body", b""))
        except ConnectionError:
            self._is_taken = False
            self.leaving.set()

    async def end(self, scope: Scope, failure: Exception | None) -> None:
        """End the answer; one that a failure broke off says so to whoever reads on."""
        if failure and not self.status:
            await problem(scope, TertuliaError())(scope, _nothing, self.send)
            failure = None
        if self._is_taken:
            await self._post.end(type(failure).__name__ if failure else None)


def _prelude(start: Message) -> dict[str, Any]:
    headers: dict[str, list[str]] = {}
    for name, value in start["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    cookies = headers.pop("set-cookie", [])
    # The length of a stream is where it ends: one that breaks off would otherwise leave its client waiting.
    headers.pop("content-length", None)
    prelude: dict[str, Any] = {
        "statusCode": start["status"],
        "headers": {name: values[0] for name, values in headers.items() if len(values) == 1},
    }
    several = {name: values for name, values in headers.items() if len(values) > 1}
    return prelude | ({"multiValueHeaders": several} if several else {}) | ({"cookies": cookies} if cookies else {})


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
