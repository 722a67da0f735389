"""The journal of what tools changed, and the way back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from tertulia.domain.actions import Action
from tertulia.domain.languages import closest_language
from tertulia.entrypoints.http.context import Parts, Wished
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.fields import Absent
from tertulia.entrypoints.http.who import User
from tertulia.ports import ToolContext

router = APIRouter(prefix="/api/actions", tags=["tools"])

USUAL_LIMIT = 50
MOST = 100


class ActionView(BaseModel):
    """One change that a tool made."""

    id: str
    tool: str
    arguments: dict[str, Any]
    summary: str
    created_at: datetime
    conversation_id: str | None
    turn_id: str | None
    can_be_undone: Annotated[bool, Field(description="Whether there is a way back that was not gone yet.")]
    undone_at: datetime | None


class ActionList(BaseModel):
    """A page of changes, newest first."""

    actions: list[ActionView]
    cursor: str | None = None
    """What to send as `cursor` for the next page; null at the end."""


class UndoneView(BaseModel):
    """What became of a change that was to be taken back."""

    ok: bool
    result: str
    action: ActionView


@router.get("", responses=READING)
async def actions(
    assistant: Parts,
    user: User,
    cursor: Annotated[Annotated[str, Field(max_length=512)] | None, Absent, Query()] = None,
    limit: Annotated[Annotated[int, Field(ge=1, le=MOST)] | None, Absent, Query()] = None,
) -> ActionList:
    """List what tools changed for the user in the last 90 days."""
    page = await assistant.journal.page(user, cursor=cursor, limit=limit or USUAL_LIMIT)
    return ActionList(actions=[ActionView(**_shown(action)) for action in page.items], cursor=page.cursor)


@router.post("/{id}/undo", responses=problems(401, 409, 503))
async def undo(
    action_id: Annotated[str, Path(alias="id", max_length=64)], assistant: Parts, user: User, wished: Wished
) -> UndoneView:
    """Take a change back, once; `conflict` where there is no way back or it was gone already."""
    context = ToolContext(user=user, language=closest_language(wished.language), timezone=wished.timezone or "UTC")
    undone = await assistant.undoing(action_id, context)
    action = await assistant.journal.get(user, action_id)
    return UndoneView(ok=undone.result.ok, result=undone.result.text, action=ActionView(**_shown(action)))


def _shown(action: Action) -> Mapping[str, Any]:
    return {
        "id": action.id,
        "tool": action.tool,
        "arguments": dict(action.arguments),
        "summary": action.summary,
        "created_at": action.at,
        "conversation_id": action.conversation_id,
        "turn_id": action.turn_id,
        "can_be_undone": action.can_be_undone,
        "undone_at": action.undone_at,
    }
