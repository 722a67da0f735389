"""What a short message decides by itself, in ten languages: a yes, a no, or that the last change be taken back.

A message counts only as a whole: whoever says more than a yes has said something else, and unclear means no. People
answer in another language than they were asked, so all ten are read at once.
"""

import json
import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from functools import cache
from importlib import resources

from tertulia.domain.keywords import comparable

LONGEST_ANSWER = 80
_SIGNS = re.compile(r"[^\w\s'-]|_")
_ASKED = re.compile(r"[?？؟]")
_APOSTROPHES = str.maketrans("’‘´`", "''''")
_SPACED = re.compile(r"[^\W\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


class Verdict(StrEnum):
    """The answer to a question of ours."""

    YES = "yes"
    NO = "no"


def verdict_of(text: str) -> Verdict | None:
    """Return the clear yes or no that a whole message is; None for anything else."""
    if _ASKED.search(text):
        return None
    words = _words()
    is_yes, is_no = (_consists_of(_plain(text), words[name], words["more"]) for name in ("yes", "no"))
    if is_yes is is_no:
        return None
    return Verdict.YES if is_yes else Verdict.NO


def asks_to_undo(text: str) -> bool:
    """Whether a whole message asks to take the last change back, and nothing else."""
    words = _words()
    return _consists_of(_plain(text), words["undo"], words["around"])


def _plain(text: str) -> str:
    if len(text) > LONGEST_ANSWER:
        return ""
    return " ".join(_SIGNS.sub(" ", comparable(text.translate(_APOSTROPHES))).split())


def _consists_of(said: str, needed: Collection[str], more: Collection[str]) -> bool:
    """Whether a text is nothing but these phrases, with one at least of those needed."""
    reached = {(0, False)}
    waiting = [(0, False)]
    while waiting:
        place, has_needed = waiting.pop()
        steps = [
            *((end, True) for end in _ends(said, place, needed)),
            *((end, has_needed) for end in _ends(said, place, more)),
        ]
        waiting += [step for step in steps if step not in reached]
        reached.update(steps)
    return (len(said), True) in reached


def _ends(said: str, place: int, phrases: Collection[str]) -> Iterator[int]:
    """Yield where phrases that begin at a place end, the space behind them included."""
    for length in range(1, len(said) - place + 1):
        end = place + length
        if said[place:end] in phrases and not _is_inside_a_word(said, end):
            yield end + (said[end : end + 1] == " ")


def _is_inside_a_word(said: str, end: int) -> bool:
    return bool(_SPACED.match(said[end - 1]) and _SPACED.match(said[end : end + 1]))


@cache
def _words() -> dict[str, frozenset[str]]:
    text = resources.files("tertulia.domain").joinpath("verdicts.json").read_text("utf-8")
    by_language: list[dict[str, list[str]]] = list(json.loads(text).values())
    return {
        name: frozenset(_plain(phrase) for of_language in by_language for phrase in of_language[name])
        for name in ("yes", "more", "no", "undo", "around")
    }
