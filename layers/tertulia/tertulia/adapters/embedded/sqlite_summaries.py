"""The summaries of conversations in SQLite, found by their meaning and by their words."""

import asyncio
import hashlib
import json
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Row
from typing import TYPE_CHECKING

from tertulia.adapters.code_shelf import CodeShelf, code_of
from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.summary_matches import best_matches
from tertulia.adapters.vectors import blob_of
from tertulia.adapters.words import words_asked, words_to_store
from tertulia.domain.rarity import MOST_HOLDERS, MOST_WORDS, shares
from tertulia.domain.summaries import Match, SummaryEntry, Vector, text_to_index

if TYPE_CHECKING:
    from aiosqlite import Connection

COMPARED_EXACTLY = 30
"""Of this many, the nearest by their codes, the vectors themselves are read and compared: each is a read from the disk."""
MOST_ON_SHELVES = 200_000
"""Codes of all users in this process: some 100 MB."""

_OWNER_DIGITS = 12
"""Always as many, so that no user's word begins like another's."""
_HOLDERS = "(SELECT COUNT(*) FROM (SELECT 1 FROM summary_words WHERE summary_words MATCH ? LIMIT ?))"
_WEIGHED = "SELECT * FROM (SELECT rowid, ? AS weight FROM summary_words WHERE summary_words MATCH ? ORDER BY rowid DESC LIMIT ?)"


class _Shelf:
    """One user's codes of one model, as good as the table was at a revision."""

    def __init__(self, removals: int) -> None:
        self.removals = removals
        self.revision = -1
        self.codes = CodeShelf()


class SqliteSummaries:
    """The summary index of a laptop: signs looked through in memory, the nearest compared exactly, words by FTS5."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shelves: OrderedDict[tuple[str, str], _Shelf] = OrderedDict()
        self._turn_to_read = asyncio.Lock()
        self._totals: dict[str, tuple[int, int]] = {}
        self._completed: set[str] = set()

    async def put(self, entry: SummaryEntry) -> None:
        """Keep a summary, in place of an earlier one of its conversation."""
        title, overview = storable(entry.title), storable(entry.overview)
        async with self._database.writing() as connection:
            [state] = await connection.execute_fetchall(
                "INSERT INTO summary_states (user, revision) VALUES (?, 1)"
                " ON CONFLICT (user) DO UPDATE SET revision = revision + 1 RETURNING revision",
                (entry.user,),
            )
            [row] = await connection.execute_fetchall(
                "INSERT INTO summary_entries"
                " (user, conversation_id, title, overview, created_at, model, vector, code, revision)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (user, conversation_id) DO UPDATE SET"
                " title = excluded.title, overview = excluded.overview, created_at = excluded.created_at,"
                " model = excluded.model, vector = excluded.vector, code = excluded.code, revision = excluded.revision"
                " RETURNING id",
                (
                    entry.user,
                    entry.conversation_id,
                    title,
                    overview,
                    sortable(entry.created_at),
                    entry.vector.model,
                    blob_of(entry.vector.values),
                    code_of(entry.vector.values),
                    state["revision"],
                ),
            )
            await _put_words(connection, row["id"], entry.user, text_to_index(title, overview))

    async def nearest(self, user: str, vector: Vector, limit: int) -> list[Match]:
        """Return the user's summaries nearest in meaning, the nearest first."""
        if limit <= 0:
            return []
        shelf = await self._shelf(user, vector.model)
        near = await asyncio.to_thread(shelf.codes.nearest, vector.values, max(COMPARED_EXACTLY, limit))
        # What was deleted since, or belongs to another model by now, is no more in the table. The plus signs keep SQLite
        # from going through all of the user's rows.
        rows = await self._database.rows(
            "SELECT * FROM summary_entries WHERE id IN (SELECT value FROM json_each(?)) AND +user = ? AND +model = ?",
            (json.dumps(near), user, vector.model),
        )
        return best_matches(vector, [_match(row, 0.0) for row in rows], [row["vector"] for row in rows], limit)

    async def with_words(self, user: str, text: str, limit: int) -> list[Match]:
        """Return the user's summaries that share telling words with a text, those that share most first."""
        words = words_asked(text)[:MOST_WORDS]
        if not words or limit <= 0:
            return []
        await self._complete(user)
        asked = {word: f'"{_owner(user)}{word}"' for word in words}
        weights = shares(*await self._holders(user, asked))
        if not weights:
            return []
        weighed = " UNION ALL ".join([_WEIGHED] * len(weights))
        rows = await self._database.rows(
            f"SELECT * FROM (SELECT rowid AS number, SUM(weight) AS share FROM ({weighed})"  # noqa: S608
            " GROUP BY rowid ORDER BY share DESC, rowid DESC LIMIT ?)"
            " JOIN summary_entries ON summary_entries.id = number WHERE user = ? ORDER BY share DESC, number DESC",
            [each for word, weight in weights.items() for each in (weight, asked[word], MOST_HOLDERS)] + [limit, user],
        )
        return [_match(row, min(row["share"], 1.0)) for row in rows]

    async def named(self, user: str, conversation_ids: Sequence[str]) -> list[Match]:
        """Return the user's summaries of these conversations, those that there are."""
        rows = await self._database.rows(
            "SELECT * FROM summary_entries WHERE user = ? AND conversation_id IN (SELECT value FROM json_each(?))",
            (user, json.dumps(list(conversation_ids))),
        )
        return [_match(row, 0.0) for row in rows]

    async def retitle(self, user: str, conversation_id: str, title: str) -> None:
        """Give a summary another title; its meaning is read anew with the next summary."""
        async with self._database.writing() as connection:
            rows = await connection.execute_fetchall(
                "UPDATE summary_entries SET title = ? WHERE user = ? AND conversation_id = ? RETURNING id, title, overview",
                (storable(title), user, conversation_id),
            )
            for row in rows:
                await _put_words(connection, row["id"], user, text_to_index(row["title"], row["overview"]))

    async def remove(self, user: str, conversation_id: str) -> None:
        """Forget a conversation's summary; one that is not there is fine."""
        await self._remove("user = ? AND conversation_id = ?", user, conversation_id)

    async def remove_all(self, user: str) -> None:
        """Forget all summaries of the user."""
        await self._remove("user = ?", user)

    async def _remove(self, which: str, *values: str) -> None:
        async with self._database.writing() as connection:
            rows = await connection.execute_fetchall(
                f"DELETE FROM summary_entries WHERE {which} RETURNING id",  # noqa: S608
                values,
            )
            await connection.executemany("DELETE FROM summary_words WHERE rowid = ?", [(row["id"],) for row in rows])
            if rows:
                await connection.execute(
                    "UPDATE summary_states SET revision = revision + 1, removals = removals + 1 WHERE user = ?",
                    (values[0],),
                )

    async def _holders(self, user: str, asked: dict[str, str]) -> tuple[dict[str, int], int]:
        """Return how many of the user's summaries hold each word, counted up to a limit, and how many there are."""
        counts = ", ".join([_HOLDERS] * len(asked))
        [row] = await self._database.rows(
            f"SELECT (SELECT revision FROM summary_states WHERE user = ?), {counts}",  # noqa: S608
            [user, *(each for match in asked.values() for each in (match, MOST_HOLDERS))],
        )
        revision, *holders = tuple(row)
        return dict(zip(asked, holders, strict=True)), await self._total(user, revision)

    async def _total(self, user: str, revision: int | None) -> int:
        """Count the user's summaries, which takes a while for many, once for each revision."""
        known, total = self._totals.get(user, (None, 0))
        if revision is not None and known != revision:
            [row] = await self._database.rows("SELECT COUNT(*) FROM summary_entries WHERE user = ?", (user,))
            total = row[0]
            self._totals[user] = (revision, total)
        return total

    async def _shelf(self, user: str, model: str) -> _Shelf:
        """Return the user's codes as good as the table is now: what another process wrote is read too."""
        async with self._turn_to_read:
            await self._complete(user)
            state = await self._database.row("SELECT revision, removals FROM summary_states WHERE user = ?", (user,))
            revision, removals = (state["revision"], state["removals"]) if state else (0, 0)
            shelf = self._shelves.pop((user, model), None)
            if shelf is None or shelf.removals != removals:
                shelf = _Shelf(removals)
            if shelf.revision != revision:
                rows = await self._database.rows(
                    "SELECT id, code FROM summary_entries WHERE user = ? AND revision > ? AND model = ?",
                    (user, shelf.revision, model),
                )
                await asyncio.to_thread(shelf.codes.put, [(row["id"], row["code"]) for row in rows])
                shelf.revision = revision
            self._shelves[user, model] = shelf
            while len(self._shelves) > 1 and sum(len(each.codes) for each in self._shelves.values()) > MOST_ON_SHELVES:
                self._shelves.popitem(last=False)
            return shelf

    async def _complete(self, user: str) -> None:
        """Give the rows of an earlier version their codes and words."""
        if user in self._completed:
            return
        old = "SELECT * FROM summary_entries WHERE user = ? AND revision = 0 AND code IS NULL"
        if not await self._database.row(f"{old} LIMIT 1", (user,)):
            self._completed.add(user)
            return
        async with self._database.writing() as connection:
            rows = list(await connection.execute_fetchall(old, (user,)))
            await connection.executemany(
                "UPDATE summary_entries SET code = ? WHERE id = ?", [(_code(row["vector"]), row["id"]) for row in rows]
            )
            for row in rows:
                await _put_words(connection, row["id"], user, text_to_index(row["title"], row["overview"]))
        self._completed.add(user)


async def _put_words(connection: "Connection", number: int, user: str, text: str) -> None:
    await connection.execute(
        "INSERT OR REPLACE INTO summary_words (rowid, words) VALUES (?, ?)",
        (number, words_of(user, text)),
    )


def words_of(user: str, text: str) -> str:
    """Return the words of a text as its user's own, so that looking one up never meets another user's."""
    owner = _owner(user)
    return " ".join(f"{owner}{word}" for word in dict.fromkeys(words_to_store(text).split()))


def _owner(user: str) -> str:
    return hashlib.sha256(user.encode()).hexdigest()[:_OWNER_DIGITS]


def _code(vector: bytes) -> bytes:
    return code_of(array("f", vector))


def _match(row: Row, score: float) -> Match:
    return Match(
        user=row["user"],
        conversation_id=row["conversation_id"],
        title=row["title"],
        overview=row["overview"],
        created_at=datetime.fromisoformat(row["created_at"]),
        score=score,
    )
