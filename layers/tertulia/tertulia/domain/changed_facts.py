"""Which facts are one of a kind, so that a new one ends the old, and which sentences say that something is over.

By rules, in the languages most users speak: a model that guesses wrongly would take a true fact out of recall.
"""

import json
import re
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

MOST_KEY = 64
SHARED_ENOUGH = 0.4
"""The part of a memory's telling words that a sentence must share to be about the same."""
_LEAST_LETTERS = 4
_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


class _Rules(NamedTuple):
    single: tuple[tuple[str, re.Pattern[str]], ...]
    named: tuple[re.Pattern[str], ...]
    ended: tuple[re.Pattern[str], ...]


def key_of(words: str) -> str:
    """Return what a fact is the one value of, such as `home`; empty where there may be several."""
    folded = _folded(words)
    if is_ending(words):
        return ""
    for key, pattern in _rules().single:
        if pattern.search(folded):
            return key
    for pattern in _rules().named:
        if found := pattern.search(folded):
            return " ".join(found[1].removeprefix("new ").split())[:MOST_KEY]
    return ""


def is_ending(words: str) -> bool:
    """Whether a sentence says that something is no longer so."""
    folded = _folded(words)
    return any(pattern.search(folded) for pattern in _rules().ended)


def is_about(ending: str, memory: str) -> bool:
    """Whether a sentence that ends something speaks of what a memory says."""
    telling = _telling(memory)
    return bool(telling) and len(telling & _telling(ending)) / len(telling) >= SHARED_ENOUGH


def _telling(text: str) -> set[str]:
    words = _WORD.findall(_folded(text))
    pairs = {
        first + second
        for word in words
        for first, second in pairwise(word)
        if _UNSPACED.match(first) and _UNSPACED.match(second)
    }
    return pairs | {word for word in words if len(word) >= _LEAST_LETTERS and not _UNSPACED.search(word)}


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())


@cache
def _rules() -> _Rules:
    text = resources.files(__package__).joinpath("changed_facts.json").read_text("utf-8")
    rules = json.loads(text)
    return _Rules(
        single=tuple((key, re.compile(_folded(each))) for key, several in rules["single"].items() for each in several),
        named=tuple(re.compile(_folded(each)) for each in rules["named"]),
        ended=tuple(re.compile(_folded(each)) for each in rules["ended"]),
    )
