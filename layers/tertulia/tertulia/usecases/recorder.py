"""Stores a running turn's events beside it, and hears of a stop asked of another process."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from tertulia.domain.errors import TertuliaError
from tertulia.domain.replies import Numbered
from tertulia.ports import TurnEvents
from tertulia.usecases.running_turn import RunningTurn

FLUSH_SECONDS = 0.25
"""How often events are stored, and how soon a stop asked of another process is seen."""

logger = logging.getLogger(__name__)


class Recorder:
    """While it is entered, events are stored in batches; leaving stores the last ones."""

    def __init__(self, events: TurnEvents, running: RunningTurn) -> None:
        self._events = events
        self._running = running
        self._batch: list[Numbered] = []
        self._over = asyncio.Event()

    def add(self, numbered: Numbered) -> None:
        """Have an event stored with the next batch."""
        self._batch.append(numbered)

    async def __aenter__(self) -> "Recorder":
        self._task = asyncio.create_task(self._record())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        await self._task

    async def _record(self) -> None:
        await _guarded(self._events.begin(self._running.user, self._running.turn_id))
        while not self._over.is_set():
            await _guarded(self._look_for_stop())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), FLUSH_SECONDS)
            await _guarded(self._flush())
        await _guarded(self._flush())

    async def _flush(self) -> None:
        batch, self._batch = self._batch, []
        if batch:
            await self._events.write(self._running.turn_id, batch)

    async def _look_for_stop(self) -> None:
        if await self._events.is_asked_to_stop(self._running.turn_id):
            self._running.stopping.set()


async def _guarded(step: Coroutine[Any, Any, None]) -> None:
    # Losing a replay must not lose the turn, which has a store of its own.
    try:
        await step
    except TertuliaError as error:
        logger.warning("the events of a turn could not be stored or read: %s", error.code)
