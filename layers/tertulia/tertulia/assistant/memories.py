"""How memories are put together from their parts."""

from typing import TYPE_CHECKING

from tertulia.ports.memories import MemoryStore

if TYPE_CHECKING:
    from tertulia.assistant import Assistant
    from tertulia.usecases.keep_memories import KeepMemories


def store(parts: "Assistant") -> MemoryStore:
    """Return what is known about users."""
    return parts.stores.memories(parts.embedder)


def keep(parts: "Assistant") -> "KeepMemories":
    """Build what users do with their memories."""
    from tertulia.usecases.keep_memories import KeepMemories

    return KeepMemories(memories=parts.memories, clock=parts.clock)
