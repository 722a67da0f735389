"""The line before the local language model: one call at a time, few waiting, and everybody knows how many are ahead."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from statistics import fmean

from tertulia.domain.errors import ModelBusy

PLACES = 4
FIRST_GUESS_SECONDS = 5.0
CALLS_REMEMBERED = 8


class Place:
    """One caller's place in the line."""

    def __init__(self, queue: "LlamaQueue") -> None:
        self._queue = queue
        self.moved = asyncio.Event()
        self.started_at: float | None = None

    async def until_first(self) -> AsyncGenerator[int]:
        """Yield how many are ahead, at first and whenever that changes, until nobody is."""
        while ahead := self._queue.ahead_of(self):
            self.moved.clear()
            yield ahead
            while self._queue.ahead_of(self) == ahead:
                self.moved.clear()
                await self.moved.wait()
        self.started_at = self._queue.now()


class LlamaQueue:
    """Lets calls through one by one, in the order they came."""

    def __init__(self, places: int = PLACES, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self._places = places
        self._line: list[Place] = []
        self._seconds: deque[float] = deque(maxlen=CALLS_REMEMBERED)

    @contextmanager
    def place(self) -> Iterator[Place]:
        """Take the last place in the line and give it back at the end; raises ModelBusy where the line is full."""
        if len(self._line) >= self._places:
            raise ModelBusy("The local model is busy with others.", retry_after=self._seconds_to_next())
        place = Place(self)
        self._line.append(place)
        try:
            yield place
        finally:
            self._line.remove(place)
            if place.started_at is not None:
                self._seconds.append(self.now() - place.started_at)
            for other in self._line:
                other.moved.set()

    def ahead_of(self, place: Place) -> int:
        """Return how many are before a place."""
        return self._line.index(place)

    def _seconds_to_next(self) -> float:
        """Estimate when the running call ends, and a place gets free."""
        usual = fmean(self._seconds) if self._seconds else FIRST_GUESS_SECONDS
        started_at = self._line[0].started_at
        return max(1.0, usual - (self.now() - started_at if started_at is not None else 0.0))
