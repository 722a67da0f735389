"""What the assistant knows about a user, and which of it fits a question."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

SEMANTIC_ENOUGH = 0.28
SEMANTIC_WITH_KEYWORD = 0.24
KEYWORD_HIT = 0.01


class MemoryKind(StrEnum):
    """How long a memory lasts."""

    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


HEALTH = "health"
CATEGORIES = ("fact", "people", "project", "finance", "schedule", "preference", "interest", "habit")
_IMPORTANCE = {HEALTH: 0.9, "schedule": 0.7}
_USUAL_IMPORTANCE = 0.5


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
    """A durable fact in the user's own words."""

    id: str
    user: str
    content: str
    created_at: datetime
    kind: MemoryKind = MemoryKind.LONG_TERM
    category: str = "fact"
    importance: float = 0.5
    expires_at: datetime | None = None


def category_of(topic: str) -> str:
    """Return the category of a topic: health is a fact about the user."""
    return topic if topic in CATEGORIES else "fact"


def importance_of(topic: str) -> float:
    """Return what a topic counts: health above all, then the schedule, then the rest."""
    return _IMPORTANCE.get(topic, _USUAL_IMPORTANCE)


def is_relevant(semantic: float, keyword: float) -> bool:
    """Whether a memory fits: close in meaning, or nearly so with a word in common (the first seed's rule)."""
    return semantic >= SEMANTIC_ENOUGH or (semantic >= SEMANTIC_WITH_KEYWORD and keyword > KEYWORD_HIT)
