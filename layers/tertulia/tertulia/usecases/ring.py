"""A reminder rings: once for each time, however often its alarm goes off."""

from dataclasses import dataclass
from datetime import datetime

from tertulia.domain.errors import Conflict, NotFound
from tertulia.domain.prompts import Json
from tertulia.domain.reminders import Reminder
from tertulia.domain.user_events import UserEvent
from tertulia.ports import Clock
from tertulia.ports.reminders import Alarms, ReminderStore
from tertulia.usecases.user_stream import UserStream

EVENT = "reminder"


@dataclass(frozen=True, kw_only=True)
class Ring:
    """Tells a user's stream that a reminder is due, and sets the alarm for the next time."""

    store: ReminderStore
    alarms: Alarms
    stream: UserStream
    clock: Clock

    async def __call__(self, user: str, reminder_id: str) -> bool:
        """Ring a reminder if it is due; an alarm of a time that was changed or canceled meanwhile does nothing."""
        try:
            reminder = await self.store.get(user, reminder_id)
        except NotFound:
            return False
        now = self.clock.now()
        if reminder.due_at is None or reminder.due_at > now:
            return False
        rung = reminder.rung(now)
        # Told before it is noted: an end in between repeats the event, and its key makes the two one.
        await self.stream.publish(user, _event(reminder, rung))
        try:
            await self.store.save(rung)
        except (Conflict, NotFound):
            # Its user was faster, and what they did counts.
            return True
        if rung.due_at:
            await self.alarms.set(rung)
        return True


def _event(reminder: Reminder, rung: Reminder) -> UserEvent:
    due: datetime = rung.rang_at or rung.created_at
    data: dict[str, Json] = {
        "id": rung.id,
        "text": rung.text,
        "due_at": due.isoformat(timespec="seconds"),
        "timezone": rung.timezone,
        "repeat": rung.repeat.value,
        "missed": rung.was_late,
    }
    return UserEvent(name=EVENT, data=data, key=f"{EVENT} {rung.id} {reminder.revision}")
