"""Tells an answer that claims what no tool has done: a rule in ten languages, measured on written examples.

A sentence counts where somebody says of themselves to have changed something (or to remind the user later), and it
needs the successful result of a tool of the same kind: of this turn, or of an earlier one that it speaks of.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tertulia.domain.keywords import comparable
from tertulia.domain.prompts import Json
from tertulia.domain.turns import ToolUse, Turn

MOST_CHARACTERS = 8_000
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_APOSTROPHES = str.maketrans("’‘´`", "''''")
_LOOKS_UP = re.compile(
    r"(?:^|[_-])(?:search|list|get|find|read|fetch|show|lookup|query|calculator|time)(?:[_-]|$)", re.I
)
_FEWEST_LETTERS = 2


@dataclass(frozen=True)
class _Rules:
    claims: tuple[re.Pattern[str], ...]
    negations: tuple[re.Pattern[str], ...]

    def claimed_in(self, sentence: str) -> bool:
        if any(pattern.search(sentence) for pattern in self.negations):
            return False
        return any(pattern.search(sentence) for pattern in self.claims)


def claims_too_much(text: str, done: Sequence[ToolUse], history: Sequence[Turn]) -> bool:
    """Whether an answer claims a change that no tool has made."""
    if any(use.ok and _may_change(use.name) for use in done):
        return False
    earlier = [use for turn in history for use in turn.tools if use.ok and _may_change(use.name)]
    return any(not _is_about(sentence, earlier) for sentence in claims_in(text))


def claims_in(text: str) -> Iterator[str]:
    """Yield the sentences that claim a change."""
    for found in _SENTENCE.finditer(text[:MOST_CHARACTERS].translate(_APOSTROPHES)):
        sentence = found.group().strip().casefold()
        if not sentence.endswith(("?", "？")) and any(rules.claimed_in(sentence) for rules in _all_rules()):
            yield sentence


def _may_change(tool: str) -> bool:
    return not _LOOKS_UP.search(tool)


def _is_about(sentence: str, uses: Iterable[ToolUse]) -> bool:
    """Whether a sentence names what an earlier call was about."""
    said = comparable(sentence)
    texts = (comparable(text).strip() for use in uses for text in _texts(use.arguments))
    return any(len(text) >= _FEWEST_LETTERS and text in said for text in texts)


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
        case _:
            return


@cache
def _all_rules() -> tuple[_Rules, ...]:
    text = resources.files(__package__).joinpath("claims.json").read_text("utf-8")
    return tuple(
        _Rules(
            tuple(re.compile(pattern, re.IGNORECASE) for pattern in rules["claims"]),
            tuple(re.compile(pattern, re.IGNORECASE) for pattern in rules["not"]),
        )
        for rules in json.loads(text).values()
    )
