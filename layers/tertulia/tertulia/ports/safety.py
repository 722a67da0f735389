"""What keeps side effects safe: steps that wait for a yes, and the journal of what was changed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol, runtime_checkable

from tertulia.domain.actions import Action
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.effects import Effect
from tertulia.domain.prompts import Json
from tertulia.domain.turns import Page


@runtime_checkable
class AsksInItsWords(Protocol):
    """A tool that knows better than we how to ask before it acts."""

    def question(self, arguments: Mapping[str, Json], language: str) -> str:
        """Return what to ask the user, in full: what would happen to what."""
        ...


@runtime_checkable
class TellsItsEffect(Protocol):
    """A tool that reaches further with some arguments than with others."""

    def effect_of(self, arguments: Mapping[str, Json]) -> Effect:
        """Return how far this call would reach."""
        ...


class ConfirmationStore(Protocol):
    """Steps that wait for a yes, for 5 minutes."""

    async def ask(self, confirmation: Confirmation) -> None:
        """Keep a step until it is taken or its time is over."""
        ...

    async def waiting(self, user: str, conversation_id: str) -> Confirmation | None:
        """Return the step that was asked about last in a conversation of the user's, if its time is not over."""
        ...

    async def take(self, user: str, confirmation_id: str) -> Confirmation:
        """Hand a step out, to one taker alone; NotFound for one taken, over, unknown or another user's."""
        ...

    async def forget(self, user: str, conversation_id: str) -> None:
        """Delete what waits in a conversation."""
        ...

    async def delete_all(self, user: str) -> int:
        """Delete all that waits for the user; return how many."""
        ...


class Journal(Protocol):
    """What tools changed for whom, kept for 90 days."""

    async def note(self, action: Action) -> None:
        """Keep an action."""
        ...

    async def get(self, user: str, action_id: str) -> Action:
        """Return an action of the user's, or raise NotFound."""
        ...

    async def page(self, user: str, *, cursor: str | None = None, limit: int = 50) -> Page[Action]:
        """List the user's actions, newest first; InvalidValue for a cursor not ours."""
        ...

    async def since(self, user: str, conversation_id: str, at: datetime) -> list[Action]:
        """Return what was changed in a conversation since a time, newest first."""
        ...

    async def claim_undo(self, user: str, action_id: str, at: datetime) -> Action:
        """Mark an action as taken back, for one caller alone; raises NotFound, or NotUndoable."""
        ...

    async def release_undo(self, user: str, action_id: str) -> None:
        """Mark it as it was before, where taking it back failed."""
        ...

    async def forget(self, user: str, conversation_id: str) -> None:
        """Delete what was changed in a conversation."""
        ...

    async def delete_all(self, user: str) -> int:
        """Delete all actions of the user; return how many."""
        ...
