"""Memories in SQLite: found by meaning and by words together."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from sqlite3 import Row
from typing import TYPE_CHECKING

from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.embedded.sqlite import Database, Value
from tertulia.adapters.memory_choice import Candidate, chosen, likeness_key
from tertulia.adapters.vectors import blob_of, likenesses
from tertulia.adapters.words import words_to_match, words_to_store
from tertulia.domain.errors import NotFound
from tertulia.domain.memories import Memory, MemoryKind
from tertulia.ports import Clock, Embedder

if TYPE_CHECKING:
    from aiosqlite import Connection

_STALE_AT_ONCE = 16
"""After a change of model, this many old memories are embedded anew with each new one."""

_LIVE = "user = ? AND (expires_at IS NULL OR expires_at > ?)"

# CROSS makes SQLite ask for the words first: else it asks once for each memory, which takes seconds for a thousand.
_MATCHES = (
    "SELECT memories.row, -bm25(memory_words) AS score FROM memory_words"
    " CROSS JOIN memories ON memories.row = memory_words.rowid WHERE memory_words MATCH ?"
)


class SqliteMemories:
    """The memory store of a laptop."""

    def __init__(self, database: Database, embedder: Embedder, clock: Clock) -> None:
        self._database = database
        self._embedder = embedder
        self._clock = clock

    async def recall(self, user: str, text: str, limit: int) -> list[Memory]:
        """Return the user's memories that fit the text, newest first."""
        if limit <= 0 or not text.strip():
            return []
        [asked] = await self._embedder.embed([text])
        rows = await self._database.rows(
            f"SELECT * FROM memories WHERE {_LIVE} AND model = ? AND length(vector) = ?",  # noqa: S608
            (user, self._now(), self._embedder.name, len(blob_of(asked))),
        )
        if not rows:
            return []
        meanings = await asyncio.to_thread(likenesses, asked, [row["vector"] for row in rows])
        keywords = await self._keywords(user, text)
        return chosen(
            (
                Candidate(_memory(row), meaning, keywords.get(row["row"], 0.0))
                for meaning, row in zip(meanings, rows, strict=True)
            ),
            limit,
        )

    async def remember(self, memory: Memory) -> None:
        """Keep a memory; content that is known keeps its id and takes over the rest."""
        stale = await self._database.rows(
            f"SELECT row, content FROM memories WHERE {_LIVE} AND model <> ? LIMIT {_STALE_AT_ONCE}",  # noqa: S608
            (memory.user, self._now(), self._embedder.name),
        )
        content = storable(memory.content)
        vector, *again = await self._embedder.embed([content, *(row["content"] for row in stale)])
        async with self._database.writing() as connection:
            await connection.executemany(
                "UPDATE memories SET model = ?, vector = ? WHERE row = ? AND content = ?",
                [
                    (self._embedder.name, blob_of(each), row["row"], row["content"])
                    for each, row in zip(again, stale, strict=True)
                ],
            )
            await self._keep(connection, memory, content, vector)

    async def list(self, user: str, limit: int = 50) -> list[Memory]:
        """Return the user's memories, newest first."""
        rows = await self._database.rows(
            f"SELECT * FROM memories WHERE {_LIVE} ORDER BY created_at DESC, id DESC LIMIT ?",  # noqa: S608
            (user, self._now(), max(limit, 0)),
        )
        return [_memory(row) for row in rows]

    async def forget(self, user: str, memory_id: str) -> None:
        """Delete a memory, or raise NotFound."""
        async with self._database.writing() as connection:
            rows = await connection.execute_fetchall(
                "SELECT row FROM memories WHERE user = ? AND id = ?", (user, memory_id)
            )
            if not rows:
                raise NotFound
            await _remove(connection, rows)

    async def _keywords(self, user: str, text: str) -> dict[int, float]:
        """Return by row how well words match, 1 for the best: bm25 alone is near 0 while there are few memories."""
        query = words_to_match(text)
        if not query:
            return {}
        rows = await self._database.rows(
            f"{_MATCHES} AND {_LIVE}",
            (query, user, self._now()),
        )
        best = max((row["score"] for row in rows), default=0.0)
        return {row["row"]: row["score"] / best for row in rows if best > 0}

    async def _keep(self, connection: "Connection", memory: Memory, content: str, vector: Sequence[float]) -> None:
        likeness = likeness_key(content)
        known = await connection.execute_fetchall(
            "SELECT row, id FROM memories WHERE user = ? AND (likeness = ? OR id = ?) ORDER BY likeness = ? DESC",
            (memory.user, likeness, memory.id, likeness),
        )
        await _remove(connection, known)
        kept_id = next((row["id"] for row in known), memory.id)
        values: dict[str, Value] = {
            "user": memory.user,
            "id": kept_id,
            "content": content,
            "likeness": likeness,
            "kind": memory.kind.value,
            "category": memory.category,
            "importance": memory.importance,
            "created_at": sortable(memory.created_at),
            "expires_at": sortable(memory.expires_at) if memory.expires_at else None,
            "model": self._embedder.name,
            "vector": blob_of(vector),
        }
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        added = await connection.execute(
            f"INSERT INTO memories ({names}) VALUES ({marks})",  # noqa: S608
            tuple(values.values()),
        )
        await connection.execute(
            "INSERT INTO memory_words (rowid, words) VALUES (?, ?)", (added.lastrowid, words_to_store(content))
        )

    def _now(self) -> str:
        return sortable(self._clock.now())


async def _remove(connection: "Connection", rows: Iterable[Row]) -> None:
    """Delete memories together with their words: words without a memory would be found as ghosts."""
    places = [(row["row"],) for row in rows]
    await connection.executemany("DELETE FROM memory_words WHERE rowid = ?", places)
    await connection.executemany("DELETE FROM memories WHERE row = ?", places)


def _memory(row: Row) -> Memory:
    return Memory(
        id=row["id"],
        user=row["user"],
        content=row["content"],
        created_at=datetime.fromisoformat(row["created_at"]),
        kind=MemoryKind(row["kind"]),
        category=row["category"],
        importance=row["importance"],
        expires_at=datetime.fromisoformat(row["expires_at"]) if row["expires_at"] else None,
    )
