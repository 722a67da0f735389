"""When something is due: words of a person become a date, or a time, in their own zone."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from tertulia.domain.languages import ENGLISH
from tertulia.domain.reminder_times import moment
from tertulia.domain.reminders import Repeat, Unclear, known_zone
from tertulia.domain.summaries import ActionItem
from tertulia.domain.time_words import marks
from tertulia.domain.turns import Turn

_WRITTEN = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}.*)?")
_END_OF_DAY = " 23:59"


def with_dates(items: Sequence[ActionItem], turns: Sequence[Turn], timezone: str | None) -> tuple[ActionItem, ...]:
    """Return action items with their dates worked out from the turns in which they were said."""
    zone = ZoneInfo(known_zone(timezone))
    return tuple(
        replace(item, due=due_date(item.due, _said_in(item.due, turns), zone)) if item.due else item for item in items
    )


def due_date(words: str, said_in: Turn, zone: ZoneInfo) -> str:
    """Return an ISO date, or a time with its offset where one was said; words that name no day stay as they are."""
    if _WRITTEN.fullmatch(words):
        return words
    said_at = said_in.created_at.astimezone(zone)
    at = _moment(words, said_at, said_in.language)
    if at is not None and at.astimezone(zone).time() != said_at.time():
        return at.astimezone(zone).isoformat(timespec="minutes")
    if at is None and any(marks(words, language) for language in (said_in.language, ENGLISH)):
        at = _moment(words + _END_OF_DAY, said_at, said_in.language)
    return at.astimezone(zone).date().isoformat() if at is not None else words


def _moment(words: str, now: datetime, language: str) -> datetime | None:
    try:
        found = moment(words, now, language)
    except Unclear:
        return None
    return found.at if found.repeat is Repeat.NONE else None


def _said_in(words: str, turns: Sequence[Turn]) -> Turn:
    said = words.casefold()
    return next((turn for turn in reversed(turns) if said in turn.text.casefold()), turns[-1])
