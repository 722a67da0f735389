"""Memories that a hosted service keeps too: all is answered from our own store, which mirrors what is there."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tertulia.domain.errors import ServiceFailed
from tertulia.domain.memories import Memory, MemoryStats, MemoryWish
from tertulia.domain.turns import Page
from tertulia.ports.memories import MemoryStore, MemoryVendor

logger = logging.getLogger(__name__)

SENT_AT_ONCE = 16
"""How many memories that the service has missed go along with a new one."""
LOOKED_THROUGH = 100_000


class VendoredMemories:
    """A MemoryStore whose writes reach a vendor. A recall asks nobody but our own store."""

    def __init__(self, own: MemoryStore, vendor: MemoryVendor) -> None:
        self._own = own
        self._vendor = vendor

    async def recall(self, user: str, text: str, limit: int) -> list[Memory]:
        """Return what is true of the user and fits the text, newest first."""
        return await self._own.recall(user, text, limit)

    async def important(self, user: str, limit: int) -> list[Memory]:
        """Return what is true of the user and matters most now."""
        return await self._own.important(user, limit)

    async def remember(self, memory: Memory) -> Memory:
        """Keep a memory here, then there; where that fails, it goes along with the next one."""
        is_first = not await self._own.list(memory.user, 1)
        kept = await self._own.remember(memory)
        try:
            if is_first:
                await self._adopt(memory.user)
            missed = [each for each in await self._own.list(memory.user, LOOKED_THROUGH) if not each.vendor_id]
            for each in missed[:SENT_AT_ONCE]:
                await self._send(each)
        except ServiceFailed as error:
            logger.warning("a memory waits for the memory service: %s", error.message)
        return kept

    async def list(self, user: str, limit: int = 50) -> list[Memory]:
        """Return the user's memories, newest first."""
        return await self._own.list(user, limit)

    async def page(self, user: str, wish: MemoryWish, *, cursor: str | None = None, limit: int = 50) -> Page[Memory]:
        """List the memories that a wish fits, newest first."""
        return await self._own.page(user, wish, cursor=cursor, limit=limit)

    async def stats(self, user: str) -> MemoryStats:
        """Count the user's memories."""
        return await self._own.stats(user)

    async def get(self, user: str, memory_id: str) -> Memory:
        """Return a memory, or raise NotFound."""
        return await self._own.get(user, memory_id)

    async def correct(self, memory: Memory) -> Memory:
        """Put a memory in place of the one of its id, here and there."""
        known = await self._own.get(memory.user, memory.id)
        if known.content == memory.content:
            return await self._own.correct(memory)
        corrected = await self._own.correct(replace(memory, vendor_id=""))
        if known.vendor_id:
            await self._vendor.remove(memory.user, known.vendor_id)
        return await self._send(corrected)

    async def use(self, user: str, memory_ids: Sequence[str], at: datetime) -> None:
        """Note that an answer used these memories."""
        await self._own.use(user, memory_ids, at)

    async def forget(self, user: str, memory_id: str) -> None:
        """Delete a memory there, then here: what could not be deleted there is still listed, and can be tried again."""
        known = await self._own.get(user, memory_id)
        if known.vendor_id:
            await self._vendor.remove(user, known.vendor_id)
        await self._own.forget(user, memory_id)

    async def forget_all(self, user: str) -> None:
        """Delete all memories of the user, there, then here."""
        for memory in await self._vendor.all(user):
            await self._vendor.remove(user, memory.vendor_id)
        await self._own.forget_all(user)

    async def _adopt(self, user: str) -> None:
        """Take over what the service knew of the user before we did."""
        for memory in await self._vendor.all(user):
            if memory.content:
                await self._own.remember(memory)

    async def _send(self, memory: Memory) -> Memory:
        vendor_id = await self._vendor.add(memory)
        return await self._own.correct(replace(memory, vendor_id=vendor_id))
