"""Typed turns: answered whole, or as a stream of events."""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter

from tertulia.entrypoints.http.context import Call
from tertulia.entrypoints.http.documents import ASKING
from tertulia.entrypoints.http.models import ChatRequest, ChatResponse, StreamRequest
from tertulia.entrypoints.http.requests import revoicing, typed_turn
from tertulia.entrypoints.http.sse import EventStream
from tertulia.entrypoints.http.turn_taking import reply_of, stream_of
from tertulia.wire import EVENT_NAMES

router = APIRouter(prefix="/api/chat", tags=["turns"])

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": f"The turn's events: {', '.join(EVENT_NAMES)}; exactly one done or error is the last.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.post("", responses=ASKING)
async def chat(fields: ChatRequest, call: Call) -> ChatResponse:
    """Answer a text in one piece."""
    turn = await call.assistant.turns.take(await typed_turn(call, fields))
    done = (await reply_of(call.request, turn, revoicing(call.assistant))).done
    return ChatResponse.model_validate(
        {
            "response": done.response,
            "conversation_id": done.conversation_id,
            "turn_id": done.turn_id or turn.turn_id,
            "route": done.route,
            "receipt": done.receipt.as_json(),
        }
    )


@router.post("/stream", responses=ASKING | STREAM, response_class=EventStream, status_code=200)
async def chat_stream(fields: StreamRequest, call: Call) -> EventStream:
    """Answer a text as a stream of events, spoken too where `speak` is set."""
    wish = replace(await typed_turn(call, fields), speak=bool(fields.speak))
    turn = await call.assistant.turns.take(wish)
    return stream_of(turn, revoicing(call.assistant, fields.language, fields.voice), call.habits)
