"""The user's own stream: what happens without them, for every open page."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fastapi import APIRouter

from tertulia.assistant import Assistant
from tertulia.entrypoints.http.context import Habits, Parts
from tertulia.entrypoints.http.documents import READING
from tertulia.entrypoints.http.fields import Place
from tertulia.entrypoints.http.sse import EventStream, ServerEvent
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api", tags=["events"])

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`reminder {id, text, due_at, timezone, repeat, missed}` when one rings;"
        " `turn {turn_id, conversation_id}` for every turn that is stored; `job {id, kind, status}` when a job is done."
        " Numbers grow over restarts; what happened in the last week is sent again from `Last-Event-ID` on.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("/events", responses=READING | STREAM, response_class=EventStream, status_code=200)
async def user_events(assistant: Parts, habits: Habits, user: User, place: Place) -> EventStream:
    """Send the user's events as they happen."""
    return EventStream(_events(assistant, user, place), replace(habits, refusal_seconds=0))


async def _events(assistant: Assistant, user: str, place: int | None) -> AsyncGenerator[ServerEvent]:
    async with aclosing(assistant.user_stream.follow(user, place)) as events:
        async for each in events:
            yield ServerEvent(each.event.name, each.event.data, each.number)
