"""A step that waits for the user's own yes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tertulia.domain.errors import Conflict
from tertulia.domain.prompts import Json

VALID_FOR = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """A call of a tool, exactly as it will be made, and the question that was asked about it."""

    id: str
    user: str
    tool: str
    arguments: Mapping[str, Json]
    question: str
    language: str
    asked_at: datetime
    conversation_id: str | None = None
    turn_id: str | None = None
    """The turn that asked; a call without a model has none."""
    timezone: str = "UTC"

    @property
    def expires_at(self) -> datetime:
        """When it counts as refused."""
        return self.asked_at + VALID_FOR


class ConfirmationRequired(Conflict):
    """The user must say yes first; the question is kept and may be answered."""

    code = "confirmation_required"

    def __init__(self, confirmation: Confirmation) -> None:
        super().__init__(confirmation.question)
        self.confirmation = confirmation
