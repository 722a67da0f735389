"""The words of times in ten languages, written as marks that mean the same in all of them: `tomorrow at nine` is `D1 @at 9`.

`D1` is tomorrow, `W0` Monday, `M12` December, `@day24` the 24th; the other marks are named by their English word.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib import resources

_HAN = "零〇一二三四五六七八九"
_HAN_NUMBER = re.compile(r"[零〇一二两兩三四五六七八九十]+")
_MARK = re.compile(
    r"@\w+(?:\.\d+)?|[DWM]\d+|NEXTWEEK|NEXT|\d{4}-\d{2}-\d{2}|\d+:\d{2}|\d{1,2}[./]\d{1,2}\b|\d+(?:\.\d)?"
)

type Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def marks(text: str, language: str) -> str:
    """Return the marks in a text, one space apart; what has no meaning for times is left out."""
    known = _language(language)
    words, is_spaced = _rules()[known]
    text = _plain(text, is_spaced=is_spaced)
    for pattern, write in words:
        text = pattern.sub(write, text)
    return " ".join(_MARK.findall(text))


def _language(tag: str) -> str:
    primary = tag.replace("_", "-").split("-")[0].lower()
    return primary if primary in _rules() else "en"


@cache
def _rules() -> dict[str, tuple[list[Rule], bool]]:
    text = resources.files(__package__).joinpath("time_words.json").read_text("utf-8")
    return {name: (list(_rules_of(table)), table["spaced"]) for name, table in json.loads(text).items()}


def _rules_of(table: dict[str, object]) -> list[Rule]:
    is_spaced = bool(table["spaced"])
    numbers = str(table.get("numbers", "")).split()
    patterns: list[list[str]] = table["patterns"]  # type: ignore[assignment]
    rules: list[Rule] = []
    for written, mark in patterns:
        if written == "#cjk":
            rules.append((_HAN_NUMBER, lambda found: str(_han(found[0]))))
        elif written == "#numbers":
            pairs = sorted(zip(numbers[::2], numbers[1::2], strict=True), key=lambda pair: -len(pair[0]))
            rules += [_rule(word, f" {number} ", is_spaced=True) for word, number in pairs]
        else:
            rules.append(_rule(written, mark, is_spaced=is_spaced))
    return rules


def _rule(written: str, mark: str, *, is_spaced: bool) -> Rule:
    pattern = _plain(written, is_spaced=is_spaced, folds=False)
    if is_spaced:
        pattern = rf"(?<![\w@])(?:{pattern})(?!\w)"
    return re.compile(pattern), lambda found: found.expand(mark)


def _plain(text: str, *, is_spaced: bool, folds: bool = True) -> str:
    """Fold case, width and accents: marks of Japanese and Korean are no accents."""
    text = unicodedata.normalize("NFKC", text)
    if folds:
        text = " ".join(text.casefold().split())
    if not is_spaced:
        return text
    bare = "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
    return bare.replace("ß", "ss")


def _han(text: str) -> int:
    text = text.replace("两", "二").replace("兩", "二").replace("〇", "零")
    if "十" not in text:
        return int("".join(str(max(0, _HAN.replace("〇", "").index(each))) for each in text))
    tens, _, ones = text.partition("十")
    return 10 * (_digit(tens) if tens else 1) + (_digit(ones) if ones else 0)


def _digit(text: str) -> int:
    return _HAN.replace("〇", "").index(text[0])
