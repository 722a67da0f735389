"""Turns and events as stores get them."""

from datetime import UTC, datetime
from typing import Any

from tertulia.domain.replies import Done, Failed, Numbered, Receipt, Token
from tertulia.domain.turns import NUMBERS_A_TURN, Conversation, Turn
from tertulia.ports import ConversationStore

ME = "me@example.org"
NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


def a_turn(turn_id: str = "t1", place: int = 1, **changes: Any) -> Turn:
    """Return an answered turn; turns of a higher place are later."""
    fields: dict[str, Any] = {
        "id": turn_id,
        "number": place * NUMBERS_A_TURN,
        "text": f"question {turn_id}",
        "answer": f"answer {turn_id}",
        "language": "en-US",
        "created_at": NOON,
        "answered_at": NOON,
    }
    return Turn(**{**fields, **changes})


def a_failed_turn(turn_id: str = "t1", place: int = 1, **changes: Any) -> Turn:
    """Return a turn that a failure ended before a word was said."""
    return a_turn(turn_id, place, **{"answer": "", "error": "model_down", **changes})


def tokens(*texts: str, first: int = 1) -> list[Numbered]:
    """Return numbered token events."""
    return [Numbered(number, Token(text=text)) for number, text in enumerate(texts, start=first)]


def done(number: int) -> Numbered:
    """Return the event that ends a turn well."""
    return Numbered(number, Done(response="", conversation_id="c1", turn_id="t1", route=None, receipt=Receipt()))


def failed(number: int) -> Numbered:
    """Return the event that ends a turn badly."""
    return Numbered(number, Failed(code="model_down", message="The model is down."))


async def begun(store: ConversationStore, *turns: Turn, user: str = ME, device_id: str | None = None) -> Conversation:
    """Begin a conversation with turns and return it as it is stored."""
    conversation = await store.open(user, None, device_id)
    for turn in turns or (a_turn(),):
        await store.append(conversation, turn)
    return await store.get(user, conversation.id)
