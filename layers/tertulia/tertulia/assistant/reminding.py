"""How users are told of things by themselves: reminders, and their own streams."""

from typing import TYPE_CHECKING, Any

from tertulia.domain.errors import NotConfigured
from tertulia.ports.reminders import Alarms, ReminderStore
from tertulia.ports.user_events import UserEvents
from tertulia.usecases.reminder_timer import ReminderTimer, Timer
from tertulia.usecases.reminders import Reminders
from tertulia.usecases.ring import Ring
from tertulia.usecases.say_first import SayFirst
from tertulia.usecases.user_stream import UserStream

if TYPE_CHECKING:
    from tertulia.assistant import Assistant


def user_events(parts: "Assistant") -> UserEvents:
    """Return where the events of users are kept."""
    return parts.stores.user_events


def user_stream(parts: "Assistant") -> UserStream:
    """Return the users' own streams."""
    return UserStream(parts.user_events)


def reminder_store(parts: "Assistant") -> ReminderStore:
    """Return where reminders are kept."""
    return parts.stores.reminders


def alarms(parts: "Assistant") -> Alarms:
    """Return what rings: schedules in the cloud, a timer elsewhere."""
    if not parts.is_in_the_cloud:
        return Timer()
    from tertulia.adapters.aws.schedules import Schedules, ScheduleTarget

    settings = parts.settings
    return Schedules(
        ScheduleTarget(group=settings.reminders_group, bus=settings.reminders_bus, role=settings.reminders_role)
    )


def reminders(parts: "Assistant") -> Reminders:
    """Build what makes and changes reminders."""
    return Reminders(store=parts.reminder_store, alarms=parts.alarms, clock=parts.clock)


def ring(parts: "Assistant") -> Ring:
    """Build what rings a reminder."""
    return Ring(store=parts.reminder_store, alarms=parts.alarms, stream=parts.user_stream, clock=parts.clock)


def say_first(parts: "Assistant") -> SayFirst:
    """Build the answer of turns, which begins with what rang."""
    return SayFirst(answer=parts.chosen_answer, store=parts.reminder_store, clock=parts.clock)


def reminder_timer(parts: "Assistant") -> ReminderTimer:
    """Build the timer of this machine."""
    if parts.is_in_the_cloud:
        raise NotConfigured("In the cloud schedules ring reminders.")
    timer = parts.alarms if isinstance(parts.alarms, Timer) else Timer()
    due: Any = parts.stores.reminders
    return ReminderTimer(due, parts.ring, timer, parts.clock)
