"""Reminders as their user handles them: made, listed, canceled, put off, and acknowledged."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tertulia.domain.errors import Conflict, InvalidValue, NotFound
from tertulia.domain.reminder_times import Moment, moment
from tertulia.domain.reminders import (
    MOST_OPEN,
    MOST_TEXT_CHARACTERS,
    RESTORABLE,
    Open,
    Reminder,
    Unclear,
    Wanted,
    known_zone,
    new_reminder_id,
)
from tertulia.ports import Clock
from tertulia.ports.reminders import Alarms, ReminderStore

_MOST_ATTEMPTS = 5
_LONGEST = timedelta(days=366 * 5)


@dataclass(frozen=True, kw_only=True)
class Reminders:
    """The reminders of users; each change is kept first, and the alarm set after it."""

    store: ReminderStore
    alarms: Alarms
    clock: Clock

    async def add(self, user: str, wanted: Wanted) -> Reminder:
        """Make a reminder; raises Unclear where its time has to be asked for."""
        text = " ".join(wanted.text.split())
        if not text or len(text) > MOST_TEXT_CHARACTERS:
            raise InvalidValue(f"Say what the reminder is about, in at most {MOST_TEXT_CHARACTERS} characters.")
        when = self._moment(wanted)
        if len(await self.store.open(user)) >= MOST_OPEN:
            raise Conflict(f"There are {MOST_OPEN} reminders already. Cancel some first.")
        reminder = Reminder(
            id=new_reminder_id(),
            user=user,
            text=text,
            timezone=known_zone(wanted.timezone),
            wall=when.at.replace(tzinfo=None),
            repeat=when.repeat,
            language=wanted.language,
            created_at=self.clock.now(),
            next_at=when.at.astimezone(UTC),
            conversation_id=wanted.conversation_id,
        )
        await self.store.add(reminder)
        await self.alarms.set(reminder)
        return reminder

    async def open(self, user: str) -> list[Reminder]:
        """Return the reminders that ring or will."""
        return await self.store.open(user)

    async def cancel(self, user: str, reminder_id: str) -> Reminder:
        """Have a reminder never ring again."""
        return await self._change(user, reminder_id, lambda reminder, now: reminder.canceled(now))

    async def restore(self, user: str, reminder_id: str) -> Reminder:
        """Bring a canceled reminder back, for a day."""

        def restored(reminder: Reminder, now: datetime) -> Reminder:
            if reminder.canceled_at is None or now - reminder.canceled_at > RESTORABLE:
                raise NotFound
            return reminder.restored(now)

        return await self._change(user, reminder_id, restored, needs_open=False)

    async def snooze(self, user: str, reminder_id: str, until: datetime) -> Reminder:
        """Put a reminder off."""
        if not self.clock.now() < until < self.clock.now() + _LONGEST:
            raise Unclear(Open.PAST if until <= self.clock.now() else Open.DAY)
        return await self._change(user, reminder_id, lambda reminder, now: reminder.snoozed(until, now))

    async def snooze_for(self, user: str, reminder_id: str, wanted: Wanted) -> Reminder:
        """Put a reminder off until a time in somebody's words."""
        return await self.snooze(user, reminder_id, self._moment(wanted).at)

    async def acknowledge(self, user: str, reminder_id: str) -> Reminder:
        """Take note that the user knows; twice is once."""
        return await self._change(user, reminder_id, lambda reminder, now: reminder.acknowledged(now), needs_open=False)

    async def erase(self, user: str) -> int:
        """Erase every reminder of the user; none rings any more."""
        for reminder in await self.store.open(user):
            await self.alarms.drop(reminder)
        return await self.store.delete_all(user)

    def _moment(self, wanted: Wanted) -> Moment:
        now = self.clock.now().astimezone(ZoneInfo(known_zone(wanted.timezone)))
        when = moment(wanted.when, now, wanted.language)
        if when.at - now > _LONGEST:
            raise Unclear(Open.DAY)
        return when

    async def _change(
        self,
        user: str,
        reminder_id: str,
        change: Callable[[Reminder, datetime], Reminder],
        *,
        needs_open: bool = True,
    ) -> Reminder:
        changed = await changed_once(self.store, (user, reminder_id), change, self.clock, needs_open=needs_open)
        await (self.alarms.set(changed) if changed.due_at else self.alarms.drop(changed))
        return changed


async def changed_once(
    store: ReminderStore,
    place: tuple[str, str],
    change: Callable[[Reminder, datetime], Reminder],
    clock: Clock,
    *,
    needs_open: bool = True,
) -> Reminder:
    """Change a reminder as it is now, whoever else changes it."""
    for _ in range(_MOST_ATTEMPTS):
        reminder = await store.get(*place)
        if reminder.canceled_at and needs_open:
            raise NotFound
        changed = change(reminder, clock.now())
        try:
            await store.save(changed)
        except Conflict:
            continue
        return changed
    raise Conflict
