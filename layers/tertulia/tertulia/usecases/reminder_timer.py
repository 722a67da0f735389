"""The timer of a machine: rings what is due, also what came due while nobody ran it."""

import asyncio
import logging

from tertulia.domain.errors import TertuliaError
from tertulia.domain.reminders import Reminder
from tertulia.ports import Clock
from tertulia.ports.reminders import DueReminders
from tertulia.usecases.ring import Ring

logger = logging.getLogger(__name__)

LOOKS_EVERY_SECONDS = 15.0
"""How soon a reminder that another process set is known, and a clock that was put forward; its own ones at once."""
AFTER_A_FAILURE_SECONDS = 5.0


class Timer:
    """The alarms of a machine: nothing but a wake-up of whoever rings, since the store knows the times."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()

    async def set(self, reminder: Reminder) -> None:  # noqa: ARG002
        """Have the times looked at anew."""
        self.changed.set()

    async def drop(self, reminder: Reminder) -> None:
        """Do nothing: what is not due does not ring."""


class ReminderTimer:
    """Rings the reminders of a machine while its server runs."""

    def __init__(self, due: DueReminders, ring: Ring, timer: Timer, clock: Clock) -> None:
        self._due = due
        self._ring = ring
        self._timer = timer
        self._clock = clock

    async def run(self) -> None:
        """Ring until cancelled."""
        while True:
            self._timer.changed.clear()
            try:
                await self.ring_due()
                pause = await self._pause()
            except TertuliaError as error:
                logger.warning("reminders wait: %s", error.code)
                pause = AFTER_A_FAILURE_SECONDS
            await self._wait(pause)

    async def ring_due(self) -> int:
        """Ring what is due now; one that fails is tried again by the next look, and does not stop the others."""
        rung = 0
        for reminder in await self._due.due(self._clock.now()):
            try:
                rung += await self._ring(reminder.user, reminder.id)
            except TertuliaError as error:
                logger.warning("a reminder could not ring: %s", error.code)
        return rung

    async def _pause(self) -> float:
        due = await self._due.next_due()
        left = (due - self._clock.now()).total_seconds() if due else LOOKS_EVERY_SECONDS
        # One that is due already has just failed.
        return min(left, LOOKS_EVERY_SECONDS) if left > 0 else AFTER_A_FAILURE_SECONDS

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._timer.changed.wait()
        except TimeoutError:
            return
