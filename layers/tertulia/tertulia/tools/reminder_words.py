"""Reminders as tools show them to a model, and which one somebody means."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from tertulia.domain.cuts import one_line
from tertulia.domain.prompts import Json, ToolResult
from tertulia.domain.reminders import Reminder, Repeat, Wanted, known_zone
from tertulia.ports import ToolContext

MOST_OFFERED = 10
MOST_SHOWN_CHARACTERS = 200
GONE = ToolResult(text="That reminder is no longer there. Nothing was changed.", ok=False)
WHICH: Json = {"type": "string", "description": "The words of its text, or its id."}
WHEN: Json = {
    "type": "string",
    "description": "The user's own words for the time, such as 'tomorrow at 9' or 'every weekday at 7:15'."
    " Never add an hour or a day that they did not say.",
}

_BREAKS = re.compile(r"[\W_]+")
_AGAIN: Mapping[Repeat, str] = {
    Repeat.NONE: "",
    Repeat.DAILY: ", every day",
    Repeat.WEEKDAYS: ", Monday to Friday",
    Repeat.WEEKLY: ", every week",
}


def words_in(arguments: Mapping[str, Json], name: str) -> str:
    """Return an argument that should be a text."""
    value = arguments.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def wanted_by(arguments: Mapping[str, Json], context: ToolContext) -> Wanted:
    """Return what is asked for, in the user's zone and language."""
    return Wanted(
        text=words_in(arguments, "text"),
        when=words_in(arguments, "when"),
        timezone=known_zone(context.timezone),
        language=context.language,
        conversation_id=context.conversation_id,
    )


def line_of(reminder: Reminder) -> str:
    """Write a reminder on one line, with its time where its user is."""
    at = reminder.due_at or reminder.rang_at
    when = in_zone(at, reminder.timezone) if at else "over"
    rang = "rang for " if not reminder.due_at else ""
    return f"{one_line(reminder.text, MOST_SHOWN_CHARACTERS)} ({rang}{when}{_AGAIN[reminder.repeat]})"


def in_zone(at: datetime, timezone: str) -> str:
    """Write a time with its weekday, as a clock in the zone shows it."""
    local = at.astimezone(ZoneInfo(timezone))
    return f"{local:%A}, {local.day} {local:%B %Y}, {local:%H:%M} {timezone}"


def reminder_data(reminder: Reminder) -> dict[str, Json]:
    """Return a reminder for programs."""
    return {
        "id": reminder.id,
        "text": reminder.text,
        "due_at": reminder.due_at.isoformat(timespec="seconds") if reminder.due_at else None,
        "timezone": reminder.timezone,
        "repeat": reminder.repeat.value,
        "state": reminder.state.value,
    }


def only_one(reminders: Sequence[Reminder], words: str) -> Reminder | ToolResult:
    """Return the reminder that is meant, or what to ask instead of acting."""
    found = _meant(reminders, words)
    if len(found) == 1:
        return found[0]
    if not found:
        rest = f" There are:\n{_offered(reminders)}" if reminders else " There are none."
        said = one_line(words, MOST_SHOWN_CHARACTERS)
        return ToolResult(text=f"No reminder says {said!r}. Nothing was changed.{rest}", ok=False, summary="0")
    text = f"{len(found)} reminders may be meant. Nothing was changed: ask which one.\n{_offered(found)}"
    return ToolResult(text=text, ok=False, summary=f"{len(found)}?")


def _meant(reminders: Sequence[Reminder], words: str) -> list[Reminder]:
    wanted = _plain(words)
    ids = [each for each in reminders if each.id == words.strip()]
    same = ids or [each for each in reminders if wanted and _plain(each.text) == wanted]
    # Where scripts put no space between words, a part of the text is as good as its words.
    return (
        same
        or [each for each in reminders if wanted and f" {wanted} " in f" {_plain(each.text)} "]
        or [each for each in reminders if wanted and not wanted.isascii() and wanted in _plain(each.text)]
    )


def _plain(text: str) -> str:
    return " ".join(_BREAKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())


def _offered(reminders: Sequence[Reminder]) -> str:
    lines = [f"- {line_of(each)} (id {each.id})" for each in reminders[:MOST_OFFERED]]
    more = len(reminders) - MOST_OFFERED
    return "\n".join([*lines, *([f"- … and {more} more"] if more > 0 else [])])
