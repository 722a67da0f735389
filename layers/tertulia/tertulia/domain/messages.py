"""Turns seen as the list of messages that clients show."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tertulia.domain.turns import NUMBERS_A_TURN, ToolUse, Turn

LAST_MESSAGE_CHARACTERS = 100


@dataclass(frozen=True, kw_only=True)
class Message:
    """One row of a conversation: a question, a tool's result, or an answer."""

    id: int
    role: str
    content: str
    created_at: datetime
    turn: Turn
    tool: ToolUse | None = None


def messages_of(turn: Turn) -> Iterator[Message]:
    """Yield the question, the tool rows and the answer of a turn, in order."""
    yield Message(id=turn.number, role="user", content=turn.text, created_at=turn.created_at, turn=turn)
    for place, use in enumerate(turn.tools[: NUMBERS_A_TURN - 2], start=1):
        yield Message(
            id=turn.number + place, role="tool", content=use.result, created_at=turn.answered_at, turn=turn, tool=use
        )
    if turn.answer:
        yield Message(
            id=turn.answer_number, role="assistant", content=turn.answer, created_at=turn.answered_at, turn=turn
        )
