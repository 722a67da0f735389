"""The day in somebody's words, once they are marks: `on Friday` is `W4`."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from tertulia.domain.reminders import Open, Unclear

WEEK = 7
_MONTHS = 12
_MORE_THAN_A_MONTH = timedelta(days=32)
_LATER = re.compile(r"(?:@in )?(\d+) @(day|week)\b(?: @later)?")
_DATES = (
    r"(?P<iso>\d{4}-\d{2}-\d{2})",
    r"(?P<day>\d{1,2}) M(?P<month>\d+)(?: (?P<year>\d{4}))?",
    r"M(?P<month>\d+) (?P<day>\d{1,2})\b(?: (?P<year>\d{4}))?",
    r"(?P<first>\d{1,2})[./](?P<second>\d{1,2})\b",
    r"@day(?P<alone>\d+)",
)


@dataclass(frozen=True)
class Day:
    """A day, and whether it was named by its weekday, which comes again."""

    date: date
    is_weekday: bool = False


def day_in(said: str, today: date, *, is_english: bool) -> tuple[Day | None, str]:
    """Return the day in the marks, and the marks without it; raises Unclear."""
    for pattern in _DATES:
        if found := re.search(pattern, said):
            named = {name: value for name, value in found.groupdict().items() if value}
            try:
                day = _dated(named, today, is_english=is_english)
            except ValueError as error:
                raise Unclear(Open.DAY) from error
            return Day(day), re.sub(r"[WD]\d", "", said.replace(found[0], "", 1)).strip()
    if found := _LATER.search(said):
        days = int(found[1]) * (WEEK if found[2] == "week" else 1)
        return Day(today + timedelta(days=days)), said.replace(found[0], "", 1).strip()
    if found := re.search(r"D(\d)", said):
        return Day(today + timedelta(days=int(found[1]))), re.sub(r"[WD]\d|NEXTWEEK|NEXT", "", said).strip()
    return _weekday(said, today)


def _weekday(said: str, today: date) -> tuple[Day | None, str]:
    found = re.search(r"W(\d)", said)
    rest = re.sub(r"W\d|NEXTWEEK|NEXT", "", said).strip()
    if not found:
        if "NEXTWEEK" in said or "@weekend" in said:
            raise Unclear(Open.DAY)
        return None, rest
    monday = today - timedelta(days=today.weekday())
    if "NEXTWEEK" in said:
        return Day(monday + timedelta(days=WEEK + int(found[1]))), rest
    day = today + timedelta(days=(int(found[1]) - today.weekday()) % WEEK)
    if "NEXT" in said and day < monday + timedelta(days=WEEK):
        # This week's or the next one's: people differ.
        raise Unclear(Open.DAY)
    return Day(day, is_weekday=True), rest


def _dated(named: dict[str, str], today: date, *, is_english: bool) -> date:
    if "iso" in named:
        return date.fromisoformat(named["iso"])
    if "alone" in named:
        this = today.replace(day=int(named["alone"]))
        return this if this >= today else (this.replace(day=1) + _MORE_THAN_A_MONTH).replace(day=this.day)
    if "first" in named:
        first, second = int(named["first"]), int(named["second"])
        month, day = (first, second) if is_english and first <= _MONTHS else (second, first)
    else:
        month, day = int(named["month"]), int(named["day"])
    if "year" in named:
        return date(int(named["year"]), month, day)
    this = date(today.year, month, day)
    return this if this >= today else date(today.year + 1, month, day)
