"""The journal of what tools changed, each change with what takes it back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tertulia.domain.effects import UndoStep
from tertulia.domain.errors import Conflict
from tertulia.domain.prompts import Json

UNDONE_BY_WORDS_FOR = timedelta(minutes=10)
"""How long "undo that" means a change."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """One change that a tool made for a user. Its id grows with time."""

    id: str
    user: str
    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    summary: str
    at: datetime
    conversation_id: str | None = None
    turn_id: str | None = None
    undo: UndoStep | None = None
    undone_at: datetime | None = None

    @property
    def can_be_undone(self) -> bool:
        """Whether there is a way back that was not gone yet."""
        return self.undo is not None and self.undone_at is None


class NotUndoable(Conflict):
    """The change has no way back, or was taken back already."""

    default_message = "This cannot be taken back, or was taken back already."
