"""A recording: a finished session of a device or a file, heard part by part because it may last for hours."""

from dataclasses import dataclass, field
from datetime import datetime

from tertulia.domain.summaries import Digest


@dataclass(frozen=True, kw_only=True)
class Part:
    """A stretch of a recording that is heard by itself: some bytes of its file."""

    start: int
    end: int
    """The byte after its last."""
    seconds: float
    """When it begins in the recording."""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A recording as it is kept beside its file."""

    id: str
    user: str
    key: str
    """Where its file is."""
    size: int
    created_at: datetime
    conversation_id: str
    """The conversation that it is found by."""
    language: str | None = None
    """As its owner told it; unset, each part is heard in its own."""
    parts: tuple[Part, ...] = ()
    """Empty until it is cut."""
    head_bytes: int = 0
    """What stands before the sound in its file, and tells how to read it."""
    digest: Digest = field(default_factory=lambda: Digest(title="", overview=""))
    summarized_parts: int = 0
    """How many parts its digest knows."""

    @property
    def is_summarized(self) -> bool:
        """Whether its digest knows all of it."""
        return bool(self.parts) and self.summarized_parts >= len(self.parts)
