"""The users' own streams: told here and kept, followed by every open page of the user's."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator

from tertulia.domain.user_events import NumberedUserEvent, UserEvent
from tertulia.ports.user_events import UserEvents

LOOKS_EVERY_SECONDS = 1.0
"""How soon events of other processes are found; those of this one at once."""


class UserStream:
    """Publishes events of users, and follows them."""

    def __init__(self, events: UserEvents) -> None:
        self._events = events
        self._listeners: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    async def publish(self, user: str, event: UserEvent) -> None:
        """Keep an event and wake who follows the user here."""
        await self._events.publish(user, event)
        for news in self._listeners.get(user, ()):
            news.set()

    async def follow(self, user: str, after: int | None) -> AsyncGenerator[NumberedUserEvent]:
        """Yield what was missed since the event numbered `after`, then what comes; without a number only what comes."""
        last = await self._events.last(user)
        # A number of the future is none of ours: it would hide all that comes.
        place = last if after is None else min(after, last)
        news = asyncio.Event()
        self._listeners[user].add(news)
        try:
            while True:
                news.clear()
                for numbered in await self._events.read(user, place):
                    place = numbered.number
                    yield numbered
                await _until(news)
        finally:
            self._listeners[user].discard(news)
            if not self._listeners[user]:
                del self._listeners[user]


async def _until(news: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(LOOKS_EVERY_SECONDS):
            await news.wait()
    except TimeoutError:
        return
