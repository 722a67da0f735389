"""A small server that behaves like Anthropic over real HTTP, and answers by its scripts."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import pairwise
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.fakes.vendor import Answer, Asked, Chatted, Failure


class FakeAnthropic:
    """Answers by its scripts while they last, then with the usual answer."""

    def __init__(self) -> None:
        self.chats: list[Chatted] = []
        self.asked: list[Asked] = []
        self.left = 0
        """How many clients left before their stream ended."""

    @property
    def app(self) -> Starlette:
        """The server's route."""
        return Starlette(routes=[Route("/v1/messages", self._on_message, methods=["POST"])])

    async def _on_message(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(Asked(body, dict(request.headers)))
        said = self.chats.pop(0) if self.chats else Answer()
        if request.headers.get("x-api-key", "")[:7] != "sk-ant-":
            return JSONResponse(_error("authentication_error"), 401)
        if refusal := _refusal(body):
            return JSONResponse(_error("invalid_request_error") | {"why": refusal}, 400)
        if isinstance(said, Failure):
            return JSONResponse(_error(said.code or "api_error"), said.status, dict(said.headers))
        return StreamingResponse(self._streamed(request, said), media_type="text/event-stream")

    async def _streamed(self, request: Request, said: Answer) -> AsyncIterator[str]:
        ended = False
        try:
            await asyncio.sleep(said.seconds_to_first or 0)
            for event in _events(said):
                if await request.is_disconnected():
                    return
                yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            ended = True
        finally:
            self.left += not ended


def _refusal(body: Mapping[str, Any]) -> str:
    """Say what Anthropic would not take."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    if any(block["type"] in {"tool_use", "tool_result"} for block in blocks) and not body.get("tools"):
        return "tools must be defined"
    if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
        return "text must not be empty"
    roles = [message["role"] for message in body["messages"]]
    if any(earlier == later for earlier, later in pairwise(roles)):
        return "roles must alternate"
    return "" if body.get("anthropic_version") is None else "the version is a header"


def _events(said: Answer) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {"usage": {"input_tokens": 11, "output_tokens": 1}}}
    yield {"type": "ping"}
    if said.reasoning:
        yield _delta(0, {"type": "thinking_delta", "thinking": said.reasoning})
    for piece in said.pieces:
        yield _delta(0, {"type": "text_delta", "text": piece})
    for place, call in enumerate(said.calls, start=1):
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield {"type": "content_block_start", "index": place, "content_block": block}
        for part in call.pieces:
            yield _delta(place, {"type": "input_json_delta", "partial_json": part or ""})
        yield {"type": "content_block_stop", "index": place}
    if said.ends_with:
        yield _error(said.ends_with.code)
        return
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def _delta(index: int, delta: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _error(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "the vendor's own words"}}
