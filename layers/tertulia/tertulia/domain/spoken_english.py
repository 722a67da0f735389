"""English as it is said: times, dates, money, units, phone numbers and signs written out.

Plain numbers, years, ordinals and simple sums of money stay digits: voices read those well.
"""

import re
from collections.abc import Callable

from tertulia.domain.spoken_quantities import (
    FRACTION,
    MONEY,
    MONEY_SIGN_LAST,
    UNIT,
    VULGAR_FRACTIONS,
    fraction,
    money,
    unit,
)

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NOON, _MIDNIGHT = 12, 24
_DAYS = 31


def spoken_english(text: str) -> str:
    """Write out what English voices read wrongly or not at all."""
    for sign, digits in VULGAR_FRACTIONS.items():
        text = re.sub(rf"(?<=\d){sign}", f" and {digits}", text).replace(sign, digits)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def _digits(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match[0])
    plus = "plus " if match[0].startswith("+") else ""
    return plus + ", ".join(" ".join(group) for group in groups)


def _mailbox(match: re.Match[str]) -> str:
    return f"{match[1].replace('.', ' dot ')} at "


def _time(match: re.Match[str]) -> str:
    hour, minute, half = int(match[1]), match[2], f"{match[3].upper()}M" if match[3] else ""
    if hour > _MIDNIGHT or (half and hour > _NOON):
        return f"{hour} {minute}"
    if not half and (hour > _NOON or hour == 0):
        half = "PM" if _NOON <= hour < _MIDNIGHT else "AM"
    hour = hour % _NOON or _NOON
    if minute == "00":
        return f"{hour} {half or "o'clock"}"
    said = f"oh {minute[1]}" if minute[0] == "0" else minute
    return f"{hour} {said} {half}".rstrip()


def _iso_date(match: re.Match[str]) -> str:
    return _date(int(match[1]), int(match[2]), int(match[3])) or match[0]


def _slash_date(match: re.Match[str]) -> str:
    first, second, year = int(match[1]), int(match[2]), int(match[3])
    # The first number is the month, as Americans write, unless it cannot be one.
    return _date(year, first, second) or _date(year, second, first) or match[0]


def _date(year: int, month: int, day: int) -> str:
    return f"{_MONTHS[month - 1]} {day}, {year}" if 1 <= month <= len(_MONTHS) and 1 <= day <= _DAYS else ""


def _version(match: re.Match[str]) -> str:
    return match[0].replace(".", " point ")


def _address(match: re.Match[str]) -> str:
    return match[0].replace(".", " dot ")


type _Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_HOST = r"(?:com|org|net|io|dev|gov|edu|ai|co|app|info|uk|de|eu|fr|es|br|jp|cn|ru)"

# In this order: each rule relies on what those before it have settled.
_RULES: tuple[_Rule, ...] = (
    (re.compile(r"\b([\w.+-]+)@(?=[\w-]+(?:\.[\w-]+)+)"), _mailbox),
    (re.compile(rf"(?<=[a-z0-9-])\.(?=(?:[a-z0-9-]+\.)*{_HOST}\b(?!\.\w))", re.IGNORECASE), " dot "),
    (re.compile(r"\b[Ee]\.\s?g\.,?"), "for example,"),
    (re.compile(r"\b[Ii]\.\s?e\.,?"), "that is,"),
    (re.compile(r"\betc\b\.?(?=\s+[a-z]|[,;)])"), "et cetera"),
    (re.compile(r"\betc\b\."), "et cetera."),
    (re.compile(r"\bvs\b\.?"), "versus"),
    (re.compile(r"\bapprox\."), "approximately"),
    (re.compile(r"(?:\bNo\.\s?|#|№\s?)(?=\d)"), "number "),
    (re.compile(r"\bw/o\b"), "without"),
    (re.compile(r"\band/or\b"), "and or"),
    (re.compile(r"\b([CF])#"), r"\1 sharp"),
    (re.compile(r"(?<=\d)'(?=\d{1,2}\")"), " foot "),
    (re.compile(r"(?<=\d)\""), ""),
    (re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b"), _iso_date),
    (re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b"), _slash_date),
    (re.compile(r"\+\d[\d ()./-]{6,}\d|(?<![\w-])(?:\(\d{3}\)\s?|\d{3}[-. ])?\d{3}[-.]\d{4}(?![\w-])"), _digits),
    (
        re.compile(
            r"(?<![\w:.])(\d{1,2}):([0-5]\d)(?![\d:])(?:\s?([ap])\.?m\b(?:\.(?=,|\s+[a-z0-9]))?)?", re.IGNORECASE
        ),
        _time,
    ),
    (re.compile(r"(?<=\d):(?=\d)"), " to "),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+){3,}(?!\w)"), _address),
    (re.compile(r"(?<![\w.])\d+\.\d+\.\d+(?![\w])"), _version),
    (re.compile(r"\b[vV](?=\d)"), "version "),
    (re.compile(r"(?<![\w.,/])(?:0\d+|\d{9,})(?![\w.,/]\d|\w)"), _digits),
    (re.compile(r"(?<=\d)\s?[-–](?=\d)"), " to "),
    (FRACTION, fraction),
    (MONEY_SIGN_LAST, r"\2\1"),
    (MONEY, money),
    (UNIT, unit),
    (re.compile(r"(?<=\d)\s*[x×]\s*(?=\d)"), " times "),
    (re.compile(r"\s*×\s*"), " times "),
    (re.compile(r"\s*÷\s*|(?<=\d)\s+/\s+(?=\d)"), " divided by "),
    (re.compile(r"(?<![\w])[-−](?=\d)"), "minus "),
    (re.compile(r"(?<=[\d)])\s+[-−]\s+(?=[\d(])|−"), " minus "),
    (re.compile(r"(?<=\w)²|\^2\b"), " squared"),
    (re.compile(r"(?<=\w)³|\^3\b"), " cubed"),
    (re.compile(r"\^(?=\d)"), " to the power of "),
    (re.compile(r"√\s?"), "the square root of "),
    (re.compile(r"\s*(?:≤|<=)\s*"), " at most "),
    (re.compile(r"\s*(?:≥|>=)\s*"), " at least "),
    (re.compile(r"\s*(?:=>|->|→|⇒)\s*"), ", "),
    (re.compile(r"\s*≠\s*|\s*!=\s*"), " is not "),
    (re.compile(r"\s*=+\s*"), " equals "),
    (re.compile(r"(?<=\s)<\s*(?=[\w$€£])"), "less than "),
    (re.compile(r"(?<=\s)>\s*(?=[\w$€£])"), "greater than "),
    (re.compile(r"[≈~]\s?(?=[\d$€£])"), "about "),
    (re.compile(r"\s*±\s*"), " plus or minus "),
    (re.compile(r"\s*&\s*"), " and "),
    (re.compile(r"(?<=\d)\s?‰"), " per mille"),
    (re.compile(r"\bπ\b"), "pi"),
    (re.compile(r"(?<=[a-zA-Z])\s?/\s?(?=[a-zA-Z])"), " or "),
    (re.compile(r"\s+[–-]+\s+"), " — "),
    (re.compile(r"[<>\\^`~]"), " "),
)
