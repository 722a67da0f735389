"""Where memories lie in the cloud: an item each, listed by the time of its change, and one item that tells of changes."""

import hashlib
import struct
from array import array
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import uuid4

from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.memory_documents import memory_fields, memory_of
from tertulia.domain.memories import Memory
from tertulia.ports import Clock
from tertulia.ports.memories import Changes, Mark, MemoryRecord

_READ_AGAIN = timedelta(minutes=2)
"""How far clocks may differ, and how long a write may take, without anybody missing it."""
_LISTED = "M#"


class DynamoMemoryRecords:
    """Memories in DynamoDB."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def mark(self, user: str) -> Mark | None:
        """Return how far the user's memories are now: one small item."""
        item = await self._table.get(_mark_key(user))
        return Mark(item["version"], item.get("removals", "")) if item else None

    async def changes(self, user: str, since: Mark | None) -> Changes:
        """Return what was written since a mark, and in the two minutes before it."""
        # The mark first: what is written in between is then read once more, never missed.
        mark = await self.mark(user) or Mark("", "")
        query = Query(
            pk=_partition(user),
            condition="#listed BETWEEN :first AND :last",
            values={":first": _LISTED + _before(since), ":last": f"{_LISTED}~"},
            listing=True,
        )
        return Changes(mark, [_record(item) for item in await self._table.query(query)])

    async def put(self, user: str, records: Sequence[MemoryRecord]) -> None:
        """Write records, and then say so."""
        changed_at = sortable(self._clock.now())
        for record in records:
            await self._table.put(_item(record, changed_at))
        await self._table.change(_mark_key(user), "SET #version = :version", "", {":version": _token(changed_at)})

    async def remove(self, user: str, memory_ids: Sequence[str]) -> None:
        """Delete records, and then say so."""
        await self._table.delete_all([_key(user, memory_id) for memory_id in memory_ids])
        token = _token(sortable(self._clock.now()))
        await self._table.change(_mark_key(user), "SET #version = :token, #removals = :token", "", {":token": token})


def _token(changed_at: str) -> str:
    return f"{changed_at} {uuid4().hex}"


def _before(mark: Mark | None) -> str:
    if mark is None or not mark.version:
        return ""
    return sortable(datetime.fromisoformat(mark.version.split()[0]) - _READ_AGAIN)


def _partition(user: str) -> str:
    return f"USER#{user}"


def _mark_key(user: str) -> Key:
    return Key(_partition(user), "MEMORIES")


def _key(user: str, memory_id: str) -> Key:
    return Key(_partition(user), f"MEMORY#{hashlib.sha256(storable(memory_id).encode()).hexdigest()}")


def _item(record: MemoryRecord, changed_at: str) -> Item:
    memory = record.memory
    return {
        **_key(memory.user, memory.id)._asdict(),
        **memory_fields(memory),
        "listed": f"{_LISTED}{changed_at}#{memory.id}",
        # As text: the SDK takes no floats.
        "importance": repr(memory.importance),
        "ends_at": sortable(memory.expires_at) if memory.expires_at else None,
        "model": record.model,
        "vector": b64encode(_halved(record.vector)).decode(),
        **_expiry(memory),
    }


def _halved(vector: bytes) -> bytes:
    """Return a vector in numbers of 16 bits: likenesses change in the fourth digit, and twice as many fit a read."""
    numbers = array("f", vector)
    return struct.pack(f"<{len(numbers)}e", *numbers)


def _whole(halved: bytes) -> bytes:
    return array("f", struct.unpack(f"<{len(halved) // 2}e", halved)).tobytes()


def _expiry(memory: Memory) -> Item:
    return {"expires_at": int(memory.expires_at.timestamp())} if memory.expires_at else {}


def _record(item: Item) -> MemoryRecord:
    return MemoryRecord(
        memory=memory_of(item, item.get("ends_at")), model=item["model"], vector=_whole(b64decode(item["vector"]))
    )
