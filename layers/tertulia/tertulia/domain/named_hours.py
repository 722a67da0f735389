"""The time of day in somebody's words, once they are marks: `half past six` is `@half @past 6`."""

import re
from dataclasses import dataclass, replace

from tertulia.domain.reminders import Open, Unclear

NOON = 12
_HOURS = 24
_MINUTES = 60
_EARLY_NIGHT = 5
"""Until then, an hour of the night is after midnight."""
_LATE_MORNING = 10
_PARTS = {"morning": 9, "noon": 12, "afternoon": 15, "evening": 19, "night": 21, "midnight": 24}
_TIMES: tuple[tuple[str, str], ...] = (
    (r"(\d{1,2}):(\d{2})", "clock"),
    (r"@halfof (\d+)", "half_of"),
    (r"@threequarters (\d+)", "three_quarters_of"),
    (r"@quarterof (\d+)", "quarter_of"),
    (r"@half @past (\d+)", "half_past"),
    (r"@quarter @past (\d+)", "quarter_past"),
    (r"@quarter @to (\d+)", "quarter_to"),
    (r"@quarter (\d+)\b", "quarter_of"),
    (r"(\d+)(?: @minute)? @past (\d+)", "past"),
    (r"(\d+)(?: @minute)? @to (\d+)", "to"),
    (r"@lessof (\d+)(?: @minute)? (\d+)", "to"),
    (r"(\d+)(?: @(?:oclock|hour))? @less (\d+)", "less"),
    (r"(\d+)(?: @(?:oclock|hour))? @half", "half_past"),
    (r"(\d+)(?: @(?:oclock|hour))? @quarter", "quarter_past"),
    (r"(\d+)(?: @(?:oclock|hour))? @threequarters", "three_quarters_past"),
    (r"(\d+) @(?:oclock|hour) (?:@and )?(\d{1,2})(?: @minute)?", "clock"),
    (r"@at (\d+)(?: (?:@and )?(\d{1,2}))?(?: @(?:oclock|hour))?", "clock_or_hour"),
    (r"(\d+) @and (\d{1,2})", "clock"),
    (r"(\d+) @(?:oclock|hour)", "hour"),
    (r"(\d+)", "hour"),
)


@dataclass(frozen=True, kw_only=True)
class Clock:
    """An hour and a minute of a day; hours above 23 are after midnight."""

    hour: int
    minute: int = 0
    is_exact: bool = False
    """Whether its hour counts from midnight."""


def clock_in(said: str, part: str, *, is_english: bool) -> Clock | None:
    """Return the first time of day in the marks, else the usual one of a part of the day."""
    for pattern, kind in _TIMES:
        if found := re.search(pattern, said):
            clock = _of_kind(kind, [int(each) for each in found.groups() if each])
            if not (0 <= clock.hour <= _HOURS and clock.minute < _MINUTES):
                raise Unclear(Open.ALL)
            is_exact = (not is_english and (":" in found[0] or "@oclock" in found[0])) or clock.hour > NOON
            return _in_part(replace(clock, is_exact=is_exact or clock.hour == 0), part)
    if part not in _PARTS:
        return None
    return Clock(hour=_PARTS[part], is_exact=True)


def _of_kind(kind: str, numbers: list[int]) -> Clock:
    first, second = numbers[0], numbers[1] if len(numbers) > 1 else 0
    before = {
        "half_of": (first, 30),
        "three_quarters_of": (first, 15),
        "quarter_of": (first, 45),
        "quarter_to": (first, 15),
        "to": (second, first),
        "less": (first, second),
    }
    if kind in before:
        hour, minutes = before[kind]
        return Clock(hour=hour - 1 if hour > 1 else 12, minute=60 - minutes if minutes else 0)
    after = {"half_past": 30, "quarter_past": 15, "three_quarters_past": 45, "hour": 0}
    if kind == "past":
        return Clock(hour=second, minute=first)
    return Clock(hour=first, minute=after.get(kind, second))


def _in_part(clock: Clock, part: str) -> Clock:
    hour = clock.hour
    if not part or hour > NOON:
        return clock
    if part in {"am", "morning"}:
        hour %= NOON
    elif part == "noon":
        hour = hour if hour >= _LATE_MORNING else hour + NOON
    elif part in {"pm", "afternoon"}:
        hour = hour % NOON + NOON
    elif hour == NOON or (hour < _EARLY_NIGHT):
        # After midnight, in the night that began on the day before.
        hour = hour % NOON + _HOURS
    else:
        hour += NOON
    return replace(clock, hour=hour, is_exact=True)
