"""Reminders as stores keep them: one JSON document, and beside it what queries need."""

from dataclasses import asdict
from datetime import datetime

from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import from_document, to_document
from tertulia.domain.reminders import Reminder, Repeat

_TIMES = ("created_at", "next_at", "snoozed_until", "rang_at", "told_at", "acknowledged_at", "canceled_at")


def reminder_document(reminder: Reminder) -> str:
    """Write a reminder."""
    written = asdict(reminder)
    times = {name: sortable(written[name]) for name in _TIMES if written[name] is not None}
    return to_document(written | times | {"wall": reminder.wall.isoformat()})


def reminder_of(document: str) -> Reminder:
    """Read a reminder."""
    read = from_document(document)
    times = {name: datetime.fromisoformat(read[name]) for name in _TIMES if read[name] is not None}
    wall = {"wall": datetime.fromisoformat(read["wall"]), "repeat": Repeat(read["repeat"])}
    return Reminder(**(read | times | wall))
