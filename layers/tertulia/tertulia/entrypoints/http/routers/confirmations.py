"""The user's answer to a step that waits for it, without a message."""

import time
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from ulid import ULID

from tertulia.answering.acting import Deed
from tertulia.assistant import Assistant
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.errors import NotFound
from tertulia.domain.phrases import phrase
from tertulia.domain.prompts import ToolResult
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import ToolUse, Turn, turn_number
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import problems
from tertulia.entrypoints.http.who import User
from tertulia.ports import ToolContext

router = APIRouter(prefix="/api/confirmations", tags=["tools"])


class Approval(BaseModel):
    """The user's answer."""

    approve: Annotated[bool, Field(description="True is the user's own yes.")]


class Approved(BaseModel):
    """What became of the step."""

    approved: bool
    ok: Annotated[bool | None, Field(description="Whether the tool did it; null where it was not asked to.")]
    result: str
    ms: int


@router.post("/{id}", responses=problems(401, 409, 503))
async def answer(
    confirmation_id: Annotated[str, Path(alias="id", max_length=64)], fields: Approval, assistant: Parts, user: User
) -> Approved:
    """Say yes or no to a step, once and within 5 minutes; what comes of a yes is noted in its conversation."""
    asked = await assistant.confirmations.take(user, confirmation_id)
    if not fields.approve:
        return Approved(approved=False, ok=None, result=phrase("not_done", asked.language), ms=0)
    context = ToolContext(
        user=user,
        conversation_id=asked.conversation_id,
        turn_id=asked.turn_id,
        language=asked.language,
        timezone=asked.timezone,
    )
    tool = (await assistant.toolboxes.of(user)).find(asked.tool)
    if tool is None:
        raise NotFound
    started = time.monotonic()
    result = await assistant.acting(Deed(tool, asked.arguments, is_direct=True), context)
    ms = round((time.monotonic() - started) * 1000)
    await _tell_conversation(assistant, asked, result, ms)
    return Approved(approved=True, ok=result.ok, result=result.text, ms=ms)


async def _tell_conversation(assistant: Assistant, asked: Confirmation, result: ToolResult, ms: int) -> None:
    """Keep the answer as a turn, so that the next one knows of it; a conversation deleted meanwhile is fine."""
    if asked.conversation_id is None:
        return
    now = assistant.clock.now()
    said = phrase("done_action", asked.language, what=result.summary or result.text[:200]) if result.ok else result.text
    turn = Turn(
        id=str(ULID.from_datetime(now)).lower(),
        number=turn_number(now, 0),
        text=phrase("said_yes", asked.language),
        answer=said,
        language=asked.language,
        created_at=now,
        answered_at=now,
        route=Route.CONTEXT,
        tools=(
            ToolUse(
                call_id=asked.id, name=asked.tool, arguments=asked.arguments, result=result.text, ok=result.ok, ms=ms
            ),
        ),
    )
    try:
        conversation = await assistant.conversations.get(asked.user, asked.conversation_id)
        await assistant.conversations.append(conversation, turn)
    except NotFound:
        return
