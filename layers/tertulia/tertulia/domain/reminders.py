"""Reminders: at which time of whose wall clock they ring, once or again and again, across clock changes."""

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from tertulia.domain.errors import InvalidValue

MOST_TEXT_CHARACTERS = 500
MOST_OPEN = 200
"""How many reminders of a user may wait."""
LATE = timedelta(minutes=2)
"""One that rings later than that was missed: nobody was there to ring it."""
KEPT = timedelta(days=30)
"""For how long one that is over is kept."""
RESTORABLE = timedelta(days=1)
USUAL_SNOOZE_MINUTES = 10

_WORKDAYS = 5
_DAYS_TO_LOOK = 15


class Repeat(StrEnum):
    """How often a reminder comes again."""

    NONE = "none"
    DAILY = "daily"
    WEEKDAYS = "weekdays"
    WEEKLY = "weekly"


class Open(StrEnum):
    """What a person left open about a time."""

    TIME = "The hour is missing: ask at what time."
    DAY = "The day is unclear, it may be one of two or none: ask for the date."
    HALF = "It may be in the morning or in the afternoon: ask which."
    PAST = "That time is over: ask for one to come."
    REPEAT = "Reminders repeat daily, on weekdays or weekly only: ask which of these fits, or for a single time."
    ALL = "No time is in these words: ask when."


class Unclear(InvalidValue):
    """A time that has to be asked for."""

    def __init__(self, what: Open) -> None:
        super().__init__(what.value)
        self.what = what


class ReminderState(StrEnum):
    """How far a reminder is."""

    WAITING = "waiting"
    RINGING = "ringing"
    """It rang, and nobody said that they know."""
    DONE = "done"
    CANCELED = "canceled"


@dataclass(frozen=True, kw_only=True)
class Reminder:
    """Something to be told at a time. All times are in UTC but `wall`, which a clock in its zone shows."""

    id: str
    user: str
    text: str
    timezone: str
    wall: datetime
    """When it rings first, or rang; without zone."""
    repeat: Repeat = Repeat.NONE
    language: str = "en-US"
    created_at: datetime
    next_at: datetime | None
    """When it rings by itself; None once nothing more is to come."""
    snoozed_until: datetime | None = None
    rang_at: datetime | None = None
    """For which time it rang last."""
    was_late: bool = False
    """Whether nobody was there to ring it at that time."""
    told_at: datetime | None = None
    """When a turn began with it."""
    acknowledged_at: datetime | None = None
    canceled_at: datetime | None = None
    conversation_id: str | None = None
    revision: int = 1
    """Counts its changes, so that of two at once one counts."""

    @property
    def due_at(self) -> datetime | None:
        """When it rings next."""
        if self.canceled_at:
            return None
        return min((at for at in (self.next_at, self.snoozed_until) if at), default=None)

    @property
    def due_in_zone(self) -> datetime | None:
        """The same time as a clock in its zone shows it."""
        return self.due_at and self.due_at.astimezone(ZoneInfo(self.timezone))

    @property
    def state(self) -> ReminderState:
        """How far it is."""
        if self.canceled_at:
            return ReminderState.CANCELED
        if self.rang_at and not self.acknowledged_at:
            return ReminderState.RINGING
        return ReminderState.WAITING if self.due_at else ReminderState.DONE

    @property
    def is_open(self) -> bool:
        """Whether it rings, or will."""
        return self.state in {ReminderState.WAITING, ReminderState.RINGING} or self.due_at is not None

    @property
    def is_to_be_told(self) -> bool:
        """Whether the next turn begins with it."""
        return self.state is ReminderState.RINGING and self.told_at is None

    def rung(self, now: datetime) -> "Reminder":
        """Return it as it is after ringing: what was missed meanwhile rings once, for the last time it was due."""
        due = self.due_at or now
        missed = self.next_at if self.next_at and self.next_at <= now else None
        following = self._after(max(now, due)) if self.next_at else None
        if missed and self.repeat is not Repeat.NONE:
            while (later := self._after(missed)) and later <= now:
                missed = later
        return self._changed(
            rang_at=missed or due,
            was_late=now - due > LATE,
            next_at=following if missed else self.next_at,
            snoozed_until=None,
            told_at=None,
            acknowledged_at=None,
        )

    def snoozed(self, until: datetime, now: datetime) -> "Reminder":
        """Return it silent until a time; of a series, what would come before that is left out."""
        until = until.astimezone(UTC)
        following = self.next_at
        if following and following <= until:
            following = self._after(until)
        return self._changed(snoozed_until=until, next_at=following, acknowledged_at=now if self.rang_at else None)

    def acknowledged(self, now: datetime) -> "Reminder":
        """Return it as known to its user; one that repeats comes again."""
        return self._changed(acknowledged_at=now, snoozed_until=None)

    def told(self, now: datetime) -> "Reminder":
        """Return it as said in a turn."""
        return self._changed(told_at=now)

    def canceled(self, now: datetime) -> "Reminder":
        """Return it as one that never rings."""
        return self._changed(canceled_at=now)

    def restored(self, now: datetime) -> "Reminder":
        """Return it as it was before it was canceled; a series goes on, a time that is over does not come back."""
        following = self._after(now) if self.next_at and self.next_at <= now else self.next_at
        return self._changed(canceled_at=None, next_at=following)

    def _after(self, time: datetime) -> datetime | None:
        if self.repeat is Repeat.NONE:
            return None
        local = time.astimezone(ZoneInfo(self.timezone))
        return next_time(local, self.repeat, self.wall).astimezone(UTC)

    def _changed(self, **changes: object) -> "Reminder":
        return replace(self, revision=self.revision + 1, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A reminder as somebody asks for it."""

    text: str
    when: str
    """Their words, or a time as ISO 8601."""
    timezone: str
    language: str = "en-US"
    conversation_id: str | None = None


def known_zone(name: str | None) -> str:
    """Return the name of a time zone, UTC for one that nobody knows."""
    try:
        return ZoneInfo(name or "UTC").key
    except (KeyError, ValueError, OSError):
        return "UTC"


def new_reminder_id() -> str:
    """Make an id."""
    return secrets.token_hex(8)


def at_wall_time(local: datetime, now: datetime) -> datetime:
    """Return the instant at which a wall clock in the zone of `now` shows a time.

    What a clock change leaves out is as much later; of what comes twice it is the first.
    """
    zone = now.tzinfo
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC).astimezone(zone)


def next_time(after: datetime, repeat: Repeat, wall: datetime) -> datetime:
    """Return the first time above `after`, in its zone, at which what began at the wall time `wall` comes again."""
    first = max(after.date(), wall.date())
    days = (first + timedelta(days=number) for number in range(_DAYS_TO_LOOK))
    fitting = (day for day in days if _comes_on(day.weekday(), repeat, wall))
    times = (at_wall_time(datetime.combine(day, wall.time()), after) for day in fitting)
    return next(at for at in times if at > after)


def _comes_on(weekday: int, repeat: Repeat, wall: datetime) -> bool:
    if repeat is Repeat.WEEKDAYS:
        return weekday < _WORKDAYS
    return repeat is Repeat.DAILY or weekday == wall.weekday()
