"""A turn while it runs in this process: its events so far, who listens, and whether it should stop."""

import asyncio
from collections.abc import AsyncIterator

from tertulia.domain.replies import Done, Failed, Numbered, ReplyEvent
from tertulia.domain.turns import Conversation


class RunningTurn:
    """The events of one running turn, for any number of listeners."""

    def __init__(self, turn_id: str, conversation: Conversation) -> None:
        self.user = conversation.user
        self.turn_id = turn_id
        self.conversation = conversation
        self.stopping = asyncio.Event()
        self.put_away = asyncio.Event()
        """Set once everything of the turn is stored, its events too."""
        self._events: list[Numbered] = []
        self._listeners = 0
        self._news = asyncio.Condition()

    @property
    def conversation_id(self) -> str:
        """The conversation it belongs to."""
        return self.conversation.id

    @property
    def is_over(self) -> bool:
        """Whether its last event is there."""
        return bool(self._events) and isinstance(self._events[-1].event, Done | Failed)

    @property
    def has_failed(self) -> bool:
        """Whether it ended in a failure."""
        return bool(self._events) and isinstance(self._events[-1].event, Failed)

    async def publish(self, event: ReplyEvent) -> Numbered:
        """Add an event and wake the listeners."""
        numbered = Numbered(len(self._events) + 1, event)
        async with self._news:
            self._events.append(numbered)
            self._news.notify_all()
        return numbered

    async def events(self, after: int = 0) -> AsyncIterator[Numbered]:
        """Yield the events numbered above `after`, past and coming, to the last."""
        self._listeners += 1
        try:
            while True:
                fresh = await self._beyond(after)
                for numbered in fresh:
                    yield numbered
                after += len(fresh)
                if self.is_over and after >= len(self._events):
                    return
        finally:
            self._listeners -= 1

    async def _beyond(self, place: int) -> list[Numbered]:
        """Wait for events beyond a place; none are coming once the turn is over."""
        async with self._news:
            await self._news.wait_for(lambda: len(self._events) > place or self.is_over)
            return self._events[place:]

    def leave(self) -> None:
        """Say that a client has gone: the turn stops when nobody else listens; what was said is kept."""
        if self._listeners <= 0:
            self.stopping.set()
