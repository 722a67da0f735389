"""Turns as those who handed them in hold them."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from tertulia.domain.replies import Numbered
from tertulia.ports import Claim


class TakenTurn(Protocol):
    """A turn that was handed in, whether it runs here, elsewhere, or has ended."""

    @property
    def turn_id(self) -> str:
        """The turn's id, the first one's for a repeated request."""
        ...

    @property
    def conversation_id(self) -> str:
        """The conversation it belongs to."""
        ...

    def events(self, after: int = 0) -> AsyncIterator[Numbered]:
        """Yield the events numbered above `after`, to the last."""
        ...

    def leave(self) -> None:
        """Say that the client has gone."""
        ...


@dataclass(frozen=True, kw_only=True)
class RepeatedTurn:
    """A repeated request: it gets the first one's answer and never stops it."""

    claim: Claim
    watch: Callable[[int], AsyncIterator[Numbered]]
    """Yields the first one's events numbered above a place; InProgress when they take too long."""

    @property
    def turn_id(self) -> str:
        """The first one's turn."""
        return self.claim.turn_id

    @property
    def conversation_id(self) -> str:
        """The first one's conversation."""
        return self.claim.conversation_id

    def events(self, after: int = 0) -> AsyncIterator[Numbered]:
        """Yield the first one's events; InProgress when they take too long."""
        return self.watch(after)

    def leave(self) -> None:
        """Do nothing: the first client still listens."""
