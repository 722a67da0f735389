"""What is known about users: the store that use cases see, and what its adapters stand on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tertulia.domain.memories import Memory, MemoryStats, MemoryWish
from tertulia.domain.turns import Page


class MemoryStore(Protocol):
    """What the assistant knows about its users."""

    async def recall(self, user: str, text: str, limit: int) -> list[Memory]:
        """Return what is true of the user and fits the text (`is_relevant`), newest first."""
        ...

    async def important(self, user: str, limit: int) -> list[Memory]:
        """Return what is true of the user and matters most now, whatever is asked."""
        ...

    async def remember(self, memory: Memory) -> Memory:
        """Keep a memory and return it as it is kept: the same content once, and of a key only the newest as true."""
        ...

    async def list(self, user: str, limit: int = 50) -> list[Memory]:
        """Return the user's memories, newest first, what is true no more included."""
        ...

    async def page(self, user: str, wish: MemoryWish, *, cursor: str | None = None, limit: int = 50) -> Page[Memory]:
        """List the memories that a wish fits, newest first; InvalidValue for a cursor not ours."""
        ...

    async def stats(self, user: str) -> MemoryStats:
        """Count the user's memories."""
        ...

    async def get(self, user: str, memory_id: str) -> Memory:
        """Return a memory, or raise NotFound."""
        ...

    async def correct(self, memory: Memory) -> Memory:
        """Put a memory in place of the one of its id, or raise NotFound; Conflict when another one says the same."""
        ...

    async def use(self, user: str, memory_ids: Sequence[str], at: datetime) -> None:
        """Note that an answer used these memories; what is gone meanwhile is passed over."""
        ...

    async def forget(self, user: str, memory_id: str) -> None:
        """Delete a memory, or raise NotFound."""
        ...

    async def forget_all(self, user: str) -> None:
        """Delete all memories of the user."""
        ...


@dataclass(frozen=True, kw_only=True)
class MemoryRecord:
    """A memory with its vector, and the model that made it."""

    memory: Memory
    model: str
    vector: bytes


@dataclass(frozen=True)
class Mark:
    """Up to where somebody has read a user's memories; any change of one makes another mark."""

    version: str
    removals: str
    """Changes whenever a memory is deleted: who missed that reads all anew."""


@dataclass(frozen=True)
class Changes:
    """Records written since a mark, perhaps some from before it, and the mark up to which they reach."""

    mark: Mark
    records: Sequence[MemoryRecord]


class MemoryRecords(Protocol):
    """Where memories lie. Whoever recalls keeps a copy, and asks here only whether it is still good."""

    async def mark(self, user: str) -> Mark | None:
        """Return how far the user's memories are now; None before the first."""
        ...

    async def changes(self, user: str, since: Mark | None) -> Changes:
        """Return what was written since a mark; everything for None."""
        ...

    async def put(self, user: str, records: Sequence[MemoryRecord]) -> None:
        """Write records, each in place of an earlier one of its id."""
        ...

    async def remove(self, user: str, memory_ids: Sequence[str]) -> None:
        """Delete records; one that is not there is fine."""
        ...


class MemoryVendor(Protocol):
    """A hosted service that keeps a user's memories too. It extracts nothing: what is a memory, we decide."""

    async def add(self, memory: Memory) -> str:
        """Store the content as it stands and return its id there; raises ServiceFailed."""
        ...

    async def remove(self, user: str, vendor_id: str) -> None:
        """Delete a memory there; one that is not there is fine."""
        ...

    async def all(self, user: str) -> Sequence[Memory]:
        """Return everything it keeps of this user and of nobody else."""
        ...
