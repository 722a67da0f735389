"""When somebody wants to be reminded, read from their words in ten languages; what they left open is asked, not guessed."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from tertulia.domain.languages import ENGLISH, LANGUAGES
from tertulia.domain.named_days import WEEK, Day, day_in
from tertulia.domain.named_hours import NOON, Clock, clock_in
from tertulia.domain.reminders import Open, Repeat, Unclear, at_wall_time, next_time
from tertulia.domain.time_words import marks

MOST_WORDS = 200
_FIRST_HOUR = 7
"""The first hour that alone, as in `tomorrow at 7`, means the morning."""

_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(Z|[+-]\d{2}:?\d{2})?", re.IGNORECASE)
_AMOUNT = re.compile(r"(?:(\d+(?:\.\d)?) (@half )?|(@half ))?@(minute|hour|day|week)\b(?: (@half))?")
_PARTS = re.compile(r"@(am|pm|morning|noon|afternoon|evening|night|midnight)\b")


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A time that somebody named, with the zone it was named in."""

    at: datetime
    repeat: Repeat = Repeat.NONE


def moment(words: str, now: datetime, language: str) -> Moment:
    """Read a time as said at `now`, which has the speaker's zone; raises Unclear."""
    words = words.strip()[:MOST_WORDS]
    try:
        if found := _ISO.fullmatch(words):
            return _written(found, now)
        return _in_any_language(words, now, language)
    except OverflowError as error:
        raise Unclear(Open.DAY) from error


def _in_any_language(words: str, now: datetime, language: str) -> Moment:
    # A model may have put the words into English, and a person may mix: the first language that finds a time counts.
    unclear = Unclear(Open.ALL)
    own, english = (len(marks(words, each).split()) for each in (language, ENGLISH))
    for each in dict.fromkeys((*([ENGLISH] if english > own else []), language, ENGLISH, *LANGUAGES)):
        if said := marks(words, each):
            try:
                return _read(said, now, is_english=each == ENGLISH)
            except Unclear as question:
                unclear = question
                if question.what is not Open.ALL:
                    break
    raise unclear


def _written(found: re.Match[str], now: datetime) -> Moment:
    try:
        at = datetime.fromisoformat(f"{found[1]}T{found[2]}{(found[3] or '').upper()}")
    except ValueError as error:
        raise Unclear(Open.ALL) from error
    at = at.astimezone(now.tzinfo) if at.tzinfo else at_wall_time(at, now)
    return Moment(at=_coming(at, now))


def _coming(at: datetime, now: datetime) -> datetime:
    if at <= now:
        raise Unclear(Open.PAST)
    return at


def _read(said: str, now: datetime, *, is_english: bool) -> Moment:
    if "@gone" in said:
        raise Unclear(Open.PAST)
    if later := _later(said):
        return Moment(at=(now.astimezone(UTC) + later).astimezone(now.tzinfo))
    repeat, said = _repeat(said)
    part, said = _part(said)
    day, said = day_in(said, now.date(), is_english=is_english)
    clock = clock_in(said, part, is_english=is_english)
    if clock is None:
        raise Unclear(Open.TIME if day is not None or repeat is not Repeat.NONE else Open.ALL)
    return _placed(_Said(day=day, clock=clock, repeat=repeat), now)


def _later(said: str) -> timedelta | None:
    """Return how much later, where that is all that was said."""
    is_told = "@in " in said or said.endswith("@later")
    rest = said.replace("@in ", "").replace(" @later", "").replace("@and ", "")
    total, used = timedelta(), 0
    for found in _AMOUNT.finditer(rest):
        amount = float(found[1] or 0) + (0.5 if found[2] or found[3] or found[5] else 0.0)
        total += timedelta(**{f"{found[4]}s": amount})
        used += len(found[0].split())
    is_all = used == len(rest.split())
    # `9 hours` is a time of day in half of the languages.
    is_told = is_told or not re.fullmatch(r"\d+ @hour(?: @half)?", rest)
    return total if total and is_all and is_told else None


def _repeat(said: str) -> tuple[Repeat, str]:
    for mark, repeat in (("@weekdays", Repeat.WEEKDAYS), ("@daily", Repeat.DAILY)):
        if mark in said:
            return repeat, said.replace(mark, "").replace("@every", "")
    if "@weekend" in said:
        raise Unclear(Open.REPEAT if "@every" in said else Open.DAY)
    if "@every" not in said:
        return Repeat.NONE, said
    if len(set(re.findall(r"W\d", said))) == 1:
        return Repeat.WEEKLY, said.replace("@every", "")
    if re.search(r"@every (?:@day|@morning|@evening|@night|@afternoon)\b", said):
        return Repeat.DAILY, said.replace("@every @day", "").replace("@every", "")
    raise Unclear(Open.REPEAT)


def _part(said: str) -> tuple[str, str]:
    """Return the part of the day, and the rest; `am` and `pm` decide over the others."""
    found = _PARTS.findall(said)
    exact = [each for each in found if each in {"am", "pm", "midnight", "noon"}]
    return next(iter(exact or found), ""), " ".join(_PARTS.sub("", said).split())


@dataclass(frozen=True, kw_only=True)
class _Said:
    day: Day | None
    clock: Clock
    repeat: Repeat


def _placed(said: _Said, now: datetime) -> Moment:
    day, clock = said.day, said.clock
    if said.repeat is Repeat.NONE and (day is None or day == Day(now.date())):
        return Moment(at=_soon(clock, now, is_today=day is not None))
    if not clock.is_exact and clock.hour < _FIRST_HOUR:
        raise Unclear(Open.HALF)
    wall = _wall(day.date if day else now.date(), clock)
    if said.repeat is not Repeat.NONE:
        return Moment(at=next_time(now, said.repeat, wall), repeat=said.repeat)
    at = at_wall_time(wall, now)
    if at <= now and day and day.is_weekday:
        at = at_wall_time(wall + timedelta(days=WEEK), now)
    return Moment(at=_coming(at, now))


def _soon(clock: Clock, now: datetime, *, is_today: bool) -> datetime:
    """Return the first time from now on that fits; without a day it may be tomorrow's, where no other fits."""
    hours = {clock.hour} if clock.is_exact or clock.hour > NOON else {clock.hour, clock.hour % NOON + NOON}
    for hour in sorted(hours):
        if (at := at_wall_time(_wall(now.date(), replace(clock, hour=hour)), now)) > now:
            return at
    if is_today:
        raise Unclear(Open.PAST)
    if not clock.is_exact and clock.hour < _FIRST_HOUR:
        raise Unclear(Open.HALF)
    return at_wall_time(_wall(now.date() + timedelta(days=1), clock), now)


def _wall(day: date, clock: Clock) -> datetime:
    return datetime.combine(day, time()) + timedelta(hours=clock.hour, minutes=clock.minute)
