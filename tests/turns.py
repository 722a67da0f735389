"""Short ways to take turns in tests."""

from typing import Any

from ulid import ULID

from tertulia.assistant import Assistant
from tertulia.domain.replies import Done, Failed, ReplyEvent, Token
from tertulia.domain.turns import TurnRequest

USER = "user-1"


def request(text: str = "Hello", **fields: Any) -> TurnRequest:
    """Make a typed request of the one user."""
    fields = {"user": USER, "turn_id": str(ULID()).lower()} | fields
    return TurnRequest(text=text, **fields)


async def events_of(assistant: Assistant, asked: TurnRequest) -> list[ReplyEvent]:
    """Take a turn and return all its events."""
    taken = await assistant.turns.take(asked)
    return [numbered.event async for numbered in taken.events()]


async def done_of(assistant: Assistant, asked: TurnRequest) -> Done:
    """Take a turn that must end well."""
    last = (await events_of(assistant, asked))[-1]
    assert isinstance(last, Done), last
    return last


async def failure_of(assistant: Assistant, asked: TurnRequest) -> Failed:
    """Take a turn that must fail."""
    last = (await events_of(assistant, asked))[-1]
    assert isinstance(last, Failed), last
    return last


def words_of(events: list[ReplyEvent]) -> str:
    """Join the tokens."""
    return "".join(event.text for event in events if isinstance(event, Token))
