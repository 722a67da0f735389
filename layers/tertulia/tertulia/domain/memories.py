"""What the assistant knows about a user, and which of it fits a question."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

SEMANTIC_ENOUGH = 0.28
SEMANTIC_WITH_KEYWORD = 0.24
KEYWORD_HIT = 0.01

PASSES_AFTER = timedelta(hours=48)
"""How long a short-term memory lasts."""
IDLE = timedelta(days=7)
"""Each stretch of this length in which nobody uses a lasting memory makes it matter less."""
DECAY = 0.9
LEAST_IMPORTANCE = 0.1
_A_SECOND = 2**22


class MemoryKind(StrEnum):
    """How long a memory lasts."""

    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


class MemorySource(StrEnum):
    """Where a memory comes from."""

    CHAT = "chat"
    """The user's words in a conversation."""
    USER = "user"
    """The user wrote or corrected it."""
    VENDOR = "vendor"
    """The hosted memory service knew it already."""


HEALTH = "health"
CATEGORIES = ("fact", "people", "project", "finance", "schedule", "preference", "interest", "habit")
_IMPORTANCE = {HEALTH: 0.9, "schedule": 0.7}
USUAL_IMPORTANCE = 0.5


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something a turn tells about its user, as a model has found it."""

    evidence: str
    """The words of the user that say so."""
    topic: str
    """`health`, or one of `CATEGORIES`."""
    is_passing: bool = False
    """Whether it is true for a day or two only."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A durable fact in the user's own words. Its id is a decimal number below 2^53 that grows with time."""

    id: str
    user: str
    content: str
    created_at: datetime
    kind: MemoryKind = MemoryKind.LONG_TERM
    category: str = "fact"
    importance: float = USUAL_IMPORTANCE
    expires_at: datetime | None = None
    key: str = ""
    """What it is the one value of, such as where somebody lives: the next memory of the same key ends it."""
    source: MemorySource = MemorySource.CHAT
    source_id: str = ""
    """The turn that told it."""
    device_id: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    """Since when it is true no more; recall passes it by."""
    access_count: int = 0
    """How often an answer used it or the user repeated it."""
    used_at: datetime | None = None
    vendor_id: str = ""
    """Its id at the hosted memory service."""

    def is_kept(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return self.expires_at is None or self.expires_at > now

    def is_true(self, now: datetime) -> bool:
        """Whether it has neither expired nor ended."""
        return self.is_kept(now) and (self.valid_to is None or self.valid_to > now)

    def importance_at(self, now: datetime) -> float:
        """Return how much it still matters: a tenth less for each idle week, down to a floor."""
        if self.kind is MemoryKind.SHORT_TERM:
            return self.importance
        weeks = max((now - max(self.created_at, self.used_at or self.created_at)) // IDLE, 0)
        return max(self.importance * DECAY**weeks, min(self.importance, LEAST_IMPORTANCE))


@dataclass(frozen=True, kw_only=True)
class MemoryWish:
    """Which memories a list shows."""

    kind: MemoryKind | None = None
    category: str | None = None
    device_id: str | None = None

    def fits(self, memory: Memory) -> bool:
        """Whether the list shows it."""
        return (
            self.kind in {None, memory.kind}
            and self.category in {None, memory.category}
            and self.device_id in {None, memory.device_id}
        )


@dataclass(frozen=True, kw_only=True)
class MemoryStats:
    """How many memories a user has."""

    total: int
    short_term: int
    long_term: int
    categories: dict[str, int]


def stats_of(memories: Iterable[Memory]) -> MemoryStats:
    """Count memories."""
    listed = list(memories)
    short = sum(memory.kind is MemoryKind.SHORT_TERM for memory in listed)
    categories = dict(sorted(Counter(memory.category for memory in listed).items()))
    return MemoryStats(total=len(listed), short_term=short, long_term=len(listed) - short, categories=categories)


def memory_number(at: datetime, *told: str) -> str:
    """Return the id of a memory by when and how it was told: the same again for the same; below 2^53 until 2038."""
    digest = hashlib.sha256("\n".join(told).encode("utf-8", "replace")).digest()
    return str(int(at.timestamp()) * _A_SECOND + int.from_bytes(digest[:8]) % _A_SECOND)


def category_of(topic: str) -> str:
    """Return the category of a topic: health is a fact about the user."""
    return topic if topic in CATEGORIES else "fact"


def importance_of(topic: str) -> float:
    """Return what a topic counts: health above all, then the schedule, then the rest."""
    return _IMPORTANCE.get(topic, USUAL_IMPORTANCE)


def is_relevant(semantic: float, keyword: float) -> bool:
    """Whether a memory fits: close in meaning, or nearly so with a word in common (the first seed's rule)."""
    return semantic >= SEMANTIC_ENOUGH or (semantic >= SEMANTIC_WITH_KEYWORD and keyword > KEYWORD_HIT)
