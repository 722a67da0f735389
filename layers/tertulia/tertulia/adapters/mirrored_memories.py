"""The memory store: rules and recall in this process, over records that lie wherever they lie.

Each user's memories are kept here as a mirror. A recall asks the records for their mark alone; only when another
process has written since, it reads what is new.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tertulia.adapters.cursors import Position, position_of, sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.memory_mirror import MemoryMirror
from tertulia.adapters.vectors import blob_of
from tertulia.domain.errors import Conflict, NotFound
from tertulia.domain.memories import Memory, MemoryStats, MemoryWish, stats_of
from tertulia.domain.turns import Page
from tertulia.ports import Clock, Embedder
from tertulia.ports.memories import Changes, Mark, MemoryRecord, MemoryRecords

STALE_AT_ONCE = 16
"""After a change of model, this many old memories are embedded anew with each new one."""
MOST_MIRRORED = 40_000
"""Memories of all users kept in this process: some 100 MB."""


@dataclass
class _Place:
    """Where one user's mirror is, and whose turn it is to change it."""

    turn_to_read: asyncio.Lock = field(default_factory=asyncio.Lock)
    turn_to_write: asyncio.Lock = field(default_factory=asyncio.Lock)
    mirror: MemoryMirror | None = None


class MirroredMemories:
    """A MemoryStore over any MemoryRecords."""

    def __init__(self, records: MemoryRecords, embedder: Embedder, clock: Clock) -> None:
        self._records = records
        self._embedder = embedder
        self._clock = clock
        self._places: OrderedDict[str, _Place] = OrderedDict()

    async def recall(self, user: str, text: str, limit: int) -> list[Memory]:
        """Return what is true of the user and fits the text, newest first."""
        if limit <= 0 or not text.strip():
            return []
        mirror = await self._mirror(user)
        if not len(mirror):
            return []  # nothing that the embedder, which takes a while to load, would be asked for
        [asked] = await self._embedder.embed([text])
        return mirror.fitting(asked, text, self._clock.now(), limit)

    async def important(self, user: str, limit: int) -> list[Memory]:
        """Return what is true of the user and matters most now."""
        return (await self._mirror(user)).important(self._clock.now(), limit)

    async def remember(self, memory: Memory) -> Memory:
        """Keep a memory; content that is known keeps its id, and of its key the earlier ones end."""
        memory = replace(memory, content=storable(memory.content))
        async with self._place(memory.user).turn_to_write:
            mirror = await self._mirror(memory.user)
            kept = _again(mirror.saying(memory.content), memory)
            others = [other for other in mirror.of_key(kept.key, self._clock.now()) if other.id != kept.id]
            kept, *ended = _newest_holds(kept, others)
            stale = mirror.stale(STALE_AT_ONCE)
            vector, *again = await self._embedder.embed([kept.content, *(each.memory.content for each in stale)])
            anew = {each.memory.id: self._record(each.memory, other) for each, other in zip(stale, again, strict=True)}
            for other in ended:
                anew[other.id] = replace(anew.get(other.id) or mirror.record(other.id), memory=other)
            anew[kept.id] = self._record(kept, vector)
            await self._records.put(memory.user, list(anew.values()))
        return kept

    async def list(self, user: str, limit: int = 50) -> list[Memory]:
        """Return the user's memories, newest first."""
        return (await self._mirror(user)).all(self._clock.now())[: max(limit, 0)]

    async def page(self, user: str, wish: MemoryWish, *, cursor: str | None = None, limit: int = 50) -> Page[Memory]:
        """List the memories that a wish fits, newest first."""
        below = position_of(cursor) if cursor else None
        fitting = [memory for memory in (await self._mirror(user)).all(self._clock.now()) if wish.fits(memory)]
        left = [memory for memory in fitting if below is None or _position(memory) < (below.changed, below.id)]
        shown = left[: max(limit, 0)]
        more = Position(*_position(shown[-1])).as_cursor() if shown and len(left) > len(shown) else None
        return Page(tuple(shown), more, total=len(fitting))

    async def stats(self, user: str) -> MemoryStats:
        """Count the user's memories."""
        return stats_of((await self._mirror(user)).all(self._clock.now()))

    async def get(self, user: str, memory_id: str) -> Memory:
        """Return a memory, or raise NotFound."""
        return (await self._known(user, memory_id)).memory

    async def correct(self, memory: Memory) -> Memory:
        """Put a memory in place of the one of its id."""
        memory = replace(memory, content=storable(memory.content))
        async with self._place(memory.user).turn_to_write:
            known = await self._known(memory.user, memory.id)
            same = (await self._mirror(memory.user)).saying(memory.content)
            if same is not None and same.id != memory.id:
                raise Conflict("Another memory says the same.")
            if known.memory.content == memory.content:
                record = replace(known, memory=memory)
            else:
                record = self._record(memory, *await self._embedder.embed([memory.content]))
            await self._records.put(memory.user, [record])
        return memory

    async def use(self, user: str, memory_ids: Sequence[str], at: datetime) -> None:
        """Note that an answer used these memories."""
        if not memory_ids:
            return
        async with self._place(user).turn_to_write:
            mirror = await self._mirror(user)
            known = [record for each in memory_ids if (record := mirror.get(each))]
            used = [
                replace(record, memory=_used(record.memory, at))
                for record in known
                if record.memory.used_at is None or record.memory.used_at < at
            ]
            if used:
                await self._records.put(user, used)

    async def forget(self, user: str, memory_id: str) -> None:
        """Delete a memory, or raise NotFound."""
        async with self._place(user).turn_to_write:
            await self._known(user, memory_id)
            await self._records.remove(user, [memory_id])

    async def forget_all(self, user: str) -> None:
        """Delete all memories of the user."""
        async with self._place(user).turn_to_write:
            everything = await self._records.changes(user, None)
            await self._records.remove(user, [record.memory.id for record in everything.records])

    async def _known(self, user: str, memory_id: str) -> MemoryRecord:
        record = (await self._mirror(user)).get(memory_id)
        if record is None or not record.memory.is_kept(self._clock.now()):
            raise NotFound
        return record

    async def _mirror(self, user: str) -> MemoryMirror:
        """Return the user's mirror as good as the records are now."""
        place = self._place(user)
        async with place.turn_to_read:
            mirror = place.mirror
            mark = await self._records.mark(user)
            if mirror is None or mark is None or mirror.mark.removals != mark.removals:
                changes = await self._records.changes(user, None) if mark else Changes(Mark("", ""), ())
                mirror = await asyncio.to_thread(MemoryMirror, changes, self._embedder.name)
                place.mirror = mirror
            elif mirror.mark != mark:
                mirror.take(await self._records.changes(user, mirror.mark))
        self._make_room(user)
        return mirror

    def _place(self, user: str) -> _Place:
        place = self._places.setdefault(user, _Place())
        self._places.move_to_end(user)
        return place

    def _make_room(self, but: str) -> None:
        kept = sum(len(place.mirror) for place in self._places.values() if place.mirror)
        for user, place in self._places.items():
            if kept <= MOST_MIRRORED:
                return
            if user != but and place.mirror:
                kept -= len(place.mirror)
                place.mirror = None

    def _record(self, memory: Memory, vector: Sequence[float]) -> MemoryRecord:
        return MemoryRecord(memory=memory, model=self._embedder.name, vector=blob_of(vector))


def _again(known: Memory | None, told: Memory) -> Memory:
    """Return what is told as it is kept: where it is known, fresh, and counted once more unless by the same turn."""
    if known is None:
        return told
    if known.created_at > told.created_at:
        return known  # an older turn is learned from again
    is_same = known.id == told.id or (told.source_id != "" and known.source_id == told.source_id)
    return replace(
        told,
        id=known.id,
        vendor_id=known.vendor_id,
        used_at=known.used_at,
        access_count=known.access_count + (not is_same),
        valid_from=told.valid_from if known.valid_to else known.valid_from or told.valid_from,
    )


def _newest_holds(told: Memory, others: Sequence[Memory]) -> list[Memory]:
    """Return the memories of one key, the one told first: all but the newest end where a newer one begins."""
    newer = [other for other in others if other.created_at > told.created_at]
    if newer:
        return [replace(told, valid_to=min(_begin(other) for other in newer))]
    return [told, *(replace(other, valid_to=_begin(told)) for other in others)]


def _begin(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at


def _used(memory: Memory, at: datetime) -> Memory:
    return replace(memory, used_at=at, access_count=memory.access_count + 1)


def _position(memory: Memory) -> tuple[str, str]:
    return sortable(memory.created_at), memory.id
