"""The user's own stream: what changed, for every open page."""

from dataclasses import replace

from fastapi import APIRouter

from tertulia.entrypoints.http.context import Habits, Live
from tertulia.entrypoints.http.documents import READING
from tertulia.entrypoints.http.fields import Place
from tertulia.entrypoints.http.routers.chat import STREAM
from tertulia.entrypoints.http.sse import EventStream
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api", tags=["events"])


@router.get("/events", responses=READING | STREAM, response_class=EventStream, status_code=200)
async def user_events(live: Live, habits: Habits, user: User, place: Place) -> EventStream:
    """Send `turn {turn_id, conversation_id}` for every turn that is stored."""
    return EventStream(live.of(user, place), replace(habits, refusal_seconds=0))
