"""Where memories lie on a laptop: every change of a user's memories has a number."""

from collections.abc import Sequence
from sqlite3 import Row
from typing import TYPE_CHECKING

from tertulia.adapters.cursors import sortable
from tertulia.adapters.embedded.sqlite import Database, Value
from tertulia.adapters.memory_choice import likeness_key
from tertulia.adapters.memory_documents import memory_fields, memory_of
from tertulia.ports import Clock
from tertulia.ports.memories import Changes, Mark, MemoryRecord

if TYPE_CHECKING:
    from aiosqlite import Connection

_CHANGED = (
    "INSERT INTO memory_marks (user, version, removals) VALUES (?, 1, ?) ON CONFLICT (user)"
    " DO UPDATE SET version = version + 1, removals = removals + excluded.removals RETURNING version"
)


class SqliteMemoryRecords:
    """Memories in SQLite."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def mark(self, user: str) -> Mark | None:
        """Return how far the user's memories are now."""
        row = await self._database.row("SELECT version, removals FROM memory_marks WHERE user = ?", (user,))
        return Mark(str(row["version"]), str(row["removals"])) if row else None

    async def changes(self, user: str, since: Mark | None) -> Changes:
        """Return what was written since a mark."""
        # The mark first: what is written in between is then read once more, never missed.
        mark = await self.mark(user) or Mark("0", "0")
        rows = await self._database.rows(
            "SELECT * FROM memories WHERE user = ? AND version > ?", (user, int(since.version) if since else -1)
        )
        return Changes(mark, [_record(row) for row in rows])

    async def put(self, user: str, records: Sequence[MemoryRecord]) -> None:
        """Write records, and drop what has expired."""
        async with self._database.writing() as connection:
            rows = [(user, record.memory.id, likeness_key(record.memory.content)) for record in records]
            doubles = 0
            for name, memory_id, likeness in rows:
                # Another process may have stored the same words a moment ago.
                found = await connection.execute(
                    "DELETE FROM memories WHERE user = ? AND likeness = ? AND id <> ?", (name, likeness, memory_id)
                )
                doubles += found.rowcount
            version = await _next(connection, user, removals=int(doubles > 0))
            for record in records:
                await _write(connection, record, version)
            await connection.execute(
                "DELETE FROM memories WHERE user = ? AND expires_at < ?", (user, sortable(self._clock.now()))
            )

    async def remove(self, user: str, memory_ids: Sequence[str]) -> None:
        """Delete records."""
        async with self._database.writing() as connection:
            await connection.executemany(
                "DELETE FROM memories WHERE user = ? AND id = ?", [(user, memory_id) for memory_id in memory_ids]
            )
            await _next(connection, user, removals=1)


async def _next(connection: "Connection", user: str, *, removals: int) -> int:
    [row] = await connection.execute_fetchall(_CHANGED, (user, removals))
    return int(row["version"])


async def _write(connection: "Connection", record: MemoryRecord, version: int) -> None:
    memory = record.memory
    values: dict[str, Value] = {
        **memory_fields(memory),
        "importance": memory.importance,
        "likeness": likeness_key(memory.content),
        "expires_at": sortable(memory.expires_at) if memory.expires_at else None,
        "model": record.model,
        "vector": record.vector,
        "version": version,
    }
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    await connection.execute(
        f"INSERT OR REPLACE INTO memories ({names}) VALUES ({marks})",  # noqa: S608
        tuple(values.values()),
    )


def _record(row: Row) -> MemoryRecord:
    fields = dict(row)
    return MemoryRecord(memory=memory_of(fields, fields["expires_at"]), model=fields["model"], vector=fields["vector"])
