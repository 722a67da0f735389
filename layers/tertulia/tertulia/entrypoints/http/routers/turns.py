"""Turns under way: stopped, or followed again after a broken connection."""

from fastapi import APIRouter, Response

from tertulia.entrypoints.http.context import Habits, Parts
from tertulia.entrypoints.http.documents import READING
from tertulia.entrypoints.http.fields import Place, TurnInPath
from tertulia.entrypoints.http.requests import revoicing
from tertulia.entrypoints.http.routers.chat import STREAM
from tertulia.entrypoints.http.sse import EventStream
from tertulia.entrypoints.http.turn_taking import for_client
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/turns/{turn_id}", tags=["turns"])


@router.post("/stop", status_code=202, responses=READING, response_class=Response)
async def stop(turn_id: TurnInPath, assistant: Parts, user: User) -> Response:
    """Stop a turn; what was said is kept."""
    await assistant.turns.stop(user, turn_id)
    return Response(status_code=202)


@router.get("/events", responses=READING | STREAM, response_class=EventStream, status_code=200)
async def events(turn_id: TurnInPath, place: Place, assistant: Parts, habits: Habits, user: User) -> EventStream:
    """Send what was missed of a turn that runs or ended in the last hour, then what comes."""
    watched = assistant.turns.watch(user, turn_id, place or 0)
    headers = {"X-Turn-Id": turn_id}
    return EventStream(for_client(revoicing(assistant)(watched), is_replay=True), habits, headers)
