"""Which memories fit a question, the same in every store that searches by itself."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tertulia.domain.memories import Memory, is_relevant

_KEYWORD_WEIGHT = 0.1
"""A word in common moves a memory up among others of like meaning, never above a clearly closer one."""


class Candidate(NamedTuple):
    """A memory, how close it is in meaning, and how well its words match: 1 for the best."""

    memory: Memory
    meaning: float
    keyword: float


def chosen(candidates: Iterable[Candidate], limit: int) -> list[Memory]:
    """Return the memories that fit best, newest first."""
    fitting = [each for each in candidates if is_relevant(each.meaning, each.keyword)]
    fitting.sort(key=lambda each: each.meaning + _KEYWORD_WEIGHT * each.keyword, reverse=True)
    return sorted((each.memory for each in fitting[:limit]), key=age, reverse=True)


def age(memory: Memory) -> tuple[datetime, str]:
    """Return what memories are sorted by."""
    return memory.created_at, memory.id


def likeness_key(content: str) -> str:
    """Return what two contents have in common that count as the same."""
    return " ".join(content.split()).casefold()
