"""What a user is told of outside of any turn: a reminder rings, a turn was stored elsewhere, a job is done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tertulia.domain.prompts import Json

KEPT = timedelta(days=7)
"""For how long a page may be away and still be told."""
MOST_READ = 500


@dataclass(frozen=True, kw_only=True)
class UserEvent:
    """One event, by the name that it has in the stream."""

    name: str
    data: Mapping[str, Json] = field(default_factory=dict)
    key: str = ""
    """The same key again, soon after, is the same event."""


@dataclass(frozen=True, kw_only=True)
class NumberedUserEvent:
    """An event with its number, which grows over restarts."""

    number: int
    event: UserEvent
    at: datetime
