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


def is_relevant(semantic: float, keyword: float) -> bool:
    """Whether a memory fits: close in meaning, or nearly so with a word in common (the first seed's rule)."""
    return semantic >= SEMANTIC_ENOUGH or (semantic >= SEMANTIC_WITH_KEYWORD and keyword > KEYWORD_HIT)
