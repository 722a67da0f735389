"""The summaries of conversations in SQLite, found by their meaning."""

import asyncio
from datetime import datetime

from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.summary_matches import best_matches
from tertulia.adapters.vectors import blob_of
from tertulia.domain.summaries import Match, SummaryEntry, Vector


class SqliteSummaries:
    """The summary index of a laptop: an exact search over the user's own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, entry: SummaryEntry) -> None:
        """Keep a summary, in place of an earlier one of its conversation."""
        async with self._database.writing() as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO summary_vectors (user, conversation_id, title, overview, created_at, model, vector)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    entry.user,
                    entry.conversation_id,
                    storable(entry.title),
                    storable(entry.overview),
                    sortable(entry.created_at),
                    entry.vector.model,
                    blob_of(entry.vector.values),
                ),
            )

    async def nearest(self, user: str, vector: Vector, limit: int) -> list[Match]:
        """Return the user's summaries nearest in meaning, the nearest first."""
        rows = await self._database.rows(
            "SELECT * FROM summary_vectors WHERE user = ? AND model = ?", (user, vector.model)
        )
        candidates = [
            Match(
                user=row["user"],
                conversation_id=row["conversation_id"],
                title=row["title"],
                overview=row["overview"],
                created_at=datetime.fromisoformat(row["created_at"]),
                score=0.0,
            )
            for row in rows
        ]
        return await asyncio.to_thread(best_matches, vector, candidates, [row["vector"] for row in rows], limit)

    async def remove(self, user: str, conversation_id: str) -> None:
        """Forget a conversation's summary; one that is not there is fine."""
        async with self._database.writing() as connection:
            await connection.execute(
                "DELETE FROM summary_vectors WHERE user = ? AND conversation_id = ?", (user, conversation_id)
            )

    async def remove_all(self, user: str) -> None:
        """Forget all summaries of the user."""
        async with self._database.writing() as connection:
            await connection.execute("DELETE FROM summary_vectors WHERE user = ?", (user,))
