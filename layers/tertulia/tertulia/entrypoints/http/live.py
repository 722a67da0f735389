"""The users' own event streams: what changed, told to every open page of the user's."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator
from datetime import datetime

from tertulia.domain.replies import Done
from tertulia.entrypoints.http.sse import ServerEvent

KEPT_EVENTS = 100


class LiveEvents:
    """Passes events on within this process; a page that comes back gets the last ones it missed."""

    def __init__(self, started_at: datetime) -> None:
        # Numbers go on growing over a restart, so that a page's `Last-Event-ID` keeps its meaning.
        self._last = int(started_at.timestamp() * 1000)
        self._kept: defaultdict[str, deque[ServerEvent]] = defaultdict(lambda: deque(maxlen=KEPT_EVENTS))
        self._listeners: defaultdict[str, set[asyncio.Queue[ServerEvent]]] = defaultdict(set)

    def turn_stored(self, user: str, done: Done) -> None:
        """Tell that a turn of the user's is stored."""
        if done.turn_id is None:
            return
        self._last += 1
        data = {"turn_id": done.turn_id, "conversation_id": done.conversation_id}
        event = ServerEvent("turn", data, self._last)
        self._kept[user].append(event)
        for queue in self._listeners[user]:
            queue.put_nowait(event)

    async def of(self, user: str, after: int | None) -> AsyncGenerator[ServerEvent]:
        """Yield what was missed since the event numbered `after`, then what comes."""
        queue: asyncio.Queue[ServerEvent] = asyncio.Queue()
        self._listeners[user].add(queue)
        try:
            for event in [event for event in self._kept[user] if after is not None and event.number > after]:
                yield event
            while True:
                yield await queue.get()
        finally:
            self._listeners[user].discard(queue)
