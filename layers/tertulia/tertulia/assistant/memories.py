"""How memories are put together from their parts."""

from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from tertulia.ports.memories import MemoryStore, MemoryVendor
from tertulia.settings import quiet_mem0

if TYPE_CHECKING:
    from tertulia.assistant import Assistant
    from tertulia.usecases.keep_memories import KeepMemories


def store(parts: "Assistant") -> MemoryStore:
    """Return what is known about users; where the hosted service has a key, it keeps a copy."""
    own = parts.stores.memories(parts.embedder)
    vendor = parts.memory_vendor
    if vendor is None:
        return own
    from tertulia.adapters.vendored_memories import VendoredMemories

    return VendoredMemories(own, vendor)


def vendor(parts: "Assistant") -> MemoryVendor | None:
    """Return the hosted service, where its key is set."""
    settings = parts.settings
    if settings.mem0_api_key is None:
        return None
    from tertulia.adapters.mem0 import Mem0

    quiet_mem0(Path(gettempdir()) / "mem0" if parts.is_in_the_cloud else settings.data_dir / "mem0")
    names = {} if parts.is_in_the_cloud else {settings.user_id: settings.mem0_user_id}
    return Mem0(settings.mem0_api_key, parts.clock, settings.mem0_base_url, names)


def keep(parts: "Assistant") -> "KeepMemories":
    """Build what users do with their memories."""
    from tertulia.usecases.keep_memories import KeepMemories

    return KeepMemories(memories=parts.memories, clock=parts.clock)
