"""Where reminders are kept, and what rings them."""

from datetime import datetime
from typing import Protocol

from tertulia.domain.reminders import Reminder, Wanted


class ReminderStore(Protocol):
    """The reminders of users; those that are over are kept for 30 days."""

    async def add(self, reminder: Reminder) -> None:
        """Keep a new reminder."""
        ...

    async def get(self, user: str, reminder_id: str) -> Reminder:
        """Return a reminder of the user's, or raise NotFound."""
        ...

    async def save(self, reminder: Reminder) -> None:
        """Keep a changed reminder; raises Conflict where another change was faster, NotFound where it is gone."""
        ...

    async def open(self, user: str) -> list[Reminder]:
        """Return the reminders that ring or will."""
        ...

    async def to_be_told(self, user: str) -> list[Reminder]:
        """Return the reminders that the user's next turn begins with, oldest first."""
        ...

    async def delete_all(self, user: str) -> int:
        """Erase every reminder of the user; return how many."""
        ...


class DueReminders(Protocol):
    """What the timer of a machine asks the store, over all users."""

    async def due(self, now: datetime) -> list[Reminder]:
        """Return reminders that are due, the oldest first."""
        ...

    async def next_due(self) -> datetime | None:
        """Return when the next one is due."""
        ...


class Alarms(Protocol):
    """What rings reminders at their times."""

    async def set(self, reminder: Reminder) -> None:
        """Have the reminder rung when it is due, and not at the time it had before."""
        ...

    async def drop(self, reminder: Reminder) -> None:
        """Ring it no more; one that was never set is fine."""
        ...


class ReminderBook(Protocol):
    """The reminders of users as tools handle them; failures are in words for people."""

    async def add(self, user: str, wanted: Wanted) -> Reminder:
        """Make a reminder; raises Unclear where its time has to be asked for."""
        ...

    async def open(self, user: str) -> list[Reminder]:
        """Return the reminders that ring or will."""
        ...

    async def cancel(self, user: str, reminder_id: str) -> Reminder:
        """Have a reminder never ring again; raises NotFound."""
        ...

    async def restore(self, user: str, reminder_id: str) -> Reminder:
        """Bring a canceled reminder back, for a day; raises NotFound."""
        ...

    async def snooze_for(self, user: str, reminder_id: str, wanted: Wanted) -> Reminder:
        """Put a reminder off until a time in somebody's words; raises NotFound and Unclear."""
        ...

    async def acknowledge(self, user: str, reminder_id: str) -> Reminder:
        """Take note that the user knows; raises NotFound."""
        ...
