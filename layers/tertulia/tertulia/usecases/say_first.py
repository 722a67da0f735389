"""What rang and nobody acknowledged is said first in the user's next turn."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from tertulia.domain.errors import TertuliaError
from tertulia.domain.phrases import phrase
from tertulia.domain.reminders import Reminder
from tertulia.domain.replies import AnswerEvent, Degraded, Token
from tertulia.ports import Answer, Clock, Question
from tertulia.ports.reminders import ReminderStore
from tertulia.usecases.reminders import changed_once

logger = logging.getLogger(__name__)

SECONDS_TO_LOOK = 0.3
"""How long an answer waits for it at most: it was looked up while the route was chosen."""
MOST_SAID = 5


@dataclass(frozen=True, kw_only=True)
class SayFirst:
    """An answer that begins with the reminders that are to be told."""

    answer: Answer
    store: ReminderStore
    clock: Clock

    async def __call__(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """Answer; what was said first counts as told once the answer has ended."""
        user = question.request.user
        looking = asyncio.create_task(self.store.to_be_told(user))
        said: list[Reminder] | None = None
        try:
            async with aclosing(self.answer(question)) as events:
                async for event in events:
                    if said is None and isinstance(event, Token):
                        said, first = await self._first(looking, question)
                        for each in first:
                            yield each
                    yield event
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
        for reminder in said or ():
            await self._told(reminder)

    async def _first(
        self, looking: asyncio.Task[list[Reminder]], question: Question
    ) -> tuple[list[Reminder], list[AnswerEvent]]:
        try:
            async with asyncio.timeout(SECONDS_TO_LOOK):
                due = (await looking)[:MOST_SAID]
        except (TimeoutError, TertuliaError):
            return [], [Degraded(what="reminders")]
        separator = "\n\n" if question.request.surface.name != "spoken" else " "
        text = separator.join(sentence(reminder, question.language, self.clock.now()) for reminder in due)
        return due, [Token(text=text + separator)] if due else []

    async def _told(self, reminder: Reminder) -> None:
        try:
            place = (reminder.user, reminder.id)
            await changed_once(self.store, place, lambda now_kept, now: now_kept.told(now), self.clock)
        except TertuliaError as error:
            # It is said again in the next turn, which is better than never.
            logger.warning("a reminder that was said could not be marked: %s", error.code)


def sentence(reminder: Reminder, language: str, now: datetime) -> str:
    """Say a reminder in the user's language, with its time, and its date where that was another day."""
    zone = ZoneInfo(reminder.timezone)
    rang = (reminder.rang_at or now).astimezone(zone)
    day = "" if rang.date() == now.astimezone(zone).date() else f"{rang:%Y-%m-%d} "
    key = "reminder_missed" if reminder.was_late else "reminder_due"
    return phrase(key, language, time=f"{day}{rang:%H:%M}", text=reminder.text.rstrip(".!?。！？ "))
