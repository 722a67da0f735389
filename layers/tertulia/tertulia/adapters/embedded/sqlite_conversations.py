"""Conversations and turns in SQLite."""

from datetime import datetime
from sqlite3 import Row
from typing import TYPE_CHECKING

from tertulia.adapters.conversation_rows import (
    ConversationRow,
    first_row,
    items_document,
    items_of,
    last_message_number,
    new_conversation,
)
from tertulia.adapters.cursors import Position, position_of, sortable
from tertulia.adapters.documents import turn_document, turn_of
from tertulia.adapters.embedded.sqlite import Database, Value
from tertulia.domain.errors import NotFound
from tertulia.domain.summaries import Revision, Summary
from tertulia.domain.turns import Conversation, Page, Turn
from tertulia.ports import Clock

if TYPE_CHECKING:
    from aiosqlite import Connection

_ONE_CONVERSATION = "SELECT * FROM conversations WHERE user = ? AND id = ?"
_ONE_TURN = "SELECT conversation_id, document FROM turns WHERE user = ? AND id = ?"
_EVENTS_OF_TURNS = "DELETE FROM turn_runs WHERE user = ? AND turn_id IN (SELECT id FROM turns WHERE user = ?"


class SqliteConversations:
    """The conversation store of a laptop."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def prepare(self) -> None:
        """Open the database, so that the first turn does not wait for it."""
        await self._database.open()

    async def open(self, user: str, conversation_id: str | None, device_id: str | None = None) -> Conversation:
        """Return the user's conversation, or a new one for None; NotFound for any other id."""
        if conversation_id is None:
            return new_conversation(user, device_id, self._clock.now())
        return await self.get(user, conversation_id)

    async def get(self, user: str, conversation_id: str) -> Conversation:
        """Return the user's conversation, or raise NotFound."""
        row = await self._database.row(_ONE_CONVERSATION, (user, conversation_id))
        if row is None:
            raise NotFound
        return _conversation(row)

    async def append(self, conversation: Conversation, turn: Turn) -> None:
        """Keep a turn once by its id, in place of a failed one; NotFound when its conversation was deleted meanwhile."""
        async with self._database.writing() as connection:
            stored = await _first(connection, _ONE_TURN, (conversation.user, turn.id))
            replaced = turn_of(stored["document"]) if stored else None
            if replaced and replaced.error is None:
                return
            if stored and replaced and stored["conversation_id"] != conversation.id:
                await _take_out(connection, conversation.user, stored["conversation_id"], replaced)
                replaced = None
            row = await _first(connection, _ONE_CONVERSATION, (conversation.user, conversation.id))
            before = _row(row) if row else first_row(conversation)
            await _put_conversation(connection, before.with_turn(turn, replaced, self._clock.now()))
            await _put_turn(connection, conversation, turn)

    async def recent(self, conversation: Conversation, limit: int) -> list[Turn]:
        """Return the last `limit` whole turns, oldest first."""
        rows = await self._database.rows(
            "SELECT document FROM turns WHERE user = ? AND conversation_id = ? AND is_whole"
            " ORDER BY number DESC, id DESC LIMIT ?",
            (conversation.user, conversation.id, max(limit, 0)),
        )
        return [turn_of(row["document"]) for row in reversed(rows)]

    async def turns(self, conversation: Conversation, after_number: int = -1, limit: int = 500) -> list[Turn]:
        """Return turns whose last message number is above `after_number`, oldest first."""
        rows = await self._database.rows(
            "SELECT document FROM turns WHERE user = ? AND conversation_id = ? AND last_number > ?"
            " ORDER BY number, id LIMIT ?",
            (conversation.user, conversation.id, after_number, max(limit, 0)),
        )
        return [turn_of(row["document"]) for row in rows]

    async def find_turn(self, user: str, turn_id: str) -> tuple[Conversation, Turn] | None:
        """Return a turn of the user's by its id, with its conversation."""
        row = await self._database.row(
            "SELECT conversations.*, turns.document FROM turns JOIN conversations"
            " ON conversations.user = turns.user AND conversations.id = turns.conversation_id"
            " WHERE turns.user = ? AND turns.id = ?",
            (user, turn_id),
        )
        return (_conversation(row), turn_of(row["document"])) if row else None

    async def page(
        self, user: str, *, cursor: str | None = None, limit: int = 50, device_id: str | None = None
    ) -> Page[Conversation]:
        """List the user's conversations by last change, newest first; InvalidValue for a cursor not ours."""
        wanted, values = "user = ?", [user]
        if device_id is not None:
            wanted, values = wanted + " AND device_id = ?", [*values, device_id]
        total = await self._database.row(f"SELECT COUNT(*) AS total FROM conversations WHERE {wanted}", values)  # noqa: S608
        if cursor is not None:
            position = position_of(cursor)
            wanted, values = wanted + " AND (updated_at, id) < (?, ?)", [*values, position.changed, position.id]
        limit = max(limit, 1)
        rows = await self._database.rows(
            f"SELECT * FROM conversations WHERE {wanted} ORDER BY updated_at DESC, id DESC LIMIT ?",  # noqa: S608
            (*values, limit + 1),
        )
        shown = rows[:limit]
        following = Position(shown[-1]["updated_at"], shown[-1]["id"]).as_cursor() if len(rows) > limit else None
        return Page(tuple(_conversation(row) for row in shown), following, total["total"] if total else 0)

    async def summarize(self, conversation: Conversation, summary: Summary) -> None:
        """Keep what the conversation was about; NotFound when it was deleted meanwhile."""
        async with self._database.writing() as connection:
            row = await _first(connection, _ONE_CONVERSATION, (conversation.user, conversation.id))
            if row is None:
                raise NotFound
            before = _row(row)
            if before.conversation.summarized_number < summary.last_number:
                await _put_conversation(connection, before.with_summary(summary))

    async def revise(self, conversation: Conversation, revision: Revision) -> Conversation:
        """Change what a person may change; NotFound for a deleted conversation or an unknown action item."""
        async with self._database.writing() as connection:
            row = await _first(connection, _ONE_CONVERSATION, (conversation.user, conversation.id))
            if row is None:
                raise NotFound
            after = _row(row).revised(revision)
            await _put_conversation(connection, after)
            return after.conversation

    async def older(self, user: str, before: datetime, limit: int = 100) -> list[Conversation]:
        """Return the user's conversations that did not change since then, the oldest first."""
        rows = await self._database.rows(
            "SELECT * FROM conversations WHERE user = ? AND updated_at < ? ORDER BY updated_at, id LIMIT ?",
            (user, sortable(before), limit),
        )
        return [_conversation(row) for row in rows]

    async def delete(self, conversation: Conversation) -> None:
        """Delete a conversation with all its turns, their events and jobs."""
        named = (conversation.user, conversation.id)
        async with self._database.writing() as connection:
            await connection.execute(f"{_EVENTS_OF_TURNS} AND conversation_id = ?)", (conversation.user, *named))
            await connection.execute("DELETE FROM conversations WHERE user = ? AND id = ?", named)

    async def delete_all(self, user: str) -> int:
        """Delete every conversation of the user; return how many."""
        async with self._database.writing() as connection:
            await connection.execute(f"{_EVENTS_OF_TURNS})", (user, user))
            return (await connection.execute("DELETE FROM conversations WHERE user = ?", (user,))).rowcount


async def _first(connection: "Connection", sql: str, values: tuple[Value, ...]) -> Row | None:
    return next(iter(await connection.execute_fetchall(sql, values)), None)


async def _take_out(connection: "Connection", user: str, conversation_id: str, turn: Turn) -> None:
    """Take a failed turn out of the conversation it was in; a conversation left empty goes too."""
    await connection.execute("DELETE FROM turns WHERE user = ? AND id = ?", (user, turn.id))
    [row] = await connection.execute_fetchall(_ONE_CONVERSATION, (user, conversation_id))
    left = _row(row).without_turn(turn)
    if left is None:
        await connection.execute("DELETE FROM conversations WHERE user = ? AND id = ?", (user, conversation_id))
    else:
        await _put_conversation(connection, left)


async def _put_conversation(connection: "Connection", row: ConversationRow) -> None:
    kept = row.conversation
    await connection.execute(
        "INSERT INTO conversations (user, id, device_id, title, overview, action_items, message_count, last_message,"
        " last_number, created_at, updated_at, summarized_number, summarized_at, is_titled)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (user, id) DO UPDATE SET title = excluded.title, overview = excluded.overview,"
        " action_items = excluded.action_items, message_count = excluded.message_count,"
        " last_message = excluded.last_message, last_number = excluded.last_number, updated_at = excluded.updated_at,"
        " summarized_number = excluded.summarized_number, summarized_at = excluded.summarized_at,"
        " is_titled = excluded.is_titled",
        (
            kept.user,
            kept.id,
            kept.device_id,
            kept.title,
            kept.overview,
            items_document(kept.action_items),
            kept.message_count,
            kept.last_message,
            row.last_number,
            sortable(kept.created_at),
            sortable(kept.updated_at),
            kept.summarized_number,
            sortable(kept.summarized_at) if kept.summarized_at else None,
            kept.is_titled,
        ),
    )


async def _put_turn(connection: "Connection", conversation: Conversation, turn: Turn) -> None:
    await connection.execute(
        "INSERT OR REPLACE INTO turns (user, id, conversation_id, number, last_number, is_whole, document)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            conversation.user,
            turn.id,
            conversation.id,
            turn.number,
            last_message_number(turn),
            turn.is_whole,
            turn_document(turn),
        ),
    )


def _row(row: Row) -> ConversationRow:
    return ConversationRow(conversation=_conversation(row), last_number=row["last_number"])


def _conversation(row: Row) -> Conversation:
    return Conversation(
        id=row["id"],
        user=row["user"],
        created_at=datetime.fromisoformat(row["created_at"]),
        updated_at=datetime.fromisoformat(row["updated_at"]),
        title=row["title"],
        is_titled=bool(row["is_titled"]),
        overview=row["overview"],
        device_id=row["device_id"],
        message_count=row["message_count"],
        last_message=row["last_message"],
        action_items=items_of(row["action_items"]),
        summarized_number=row["summarized_number"],
        summarized_at=datetime.fromisoformat(row["summarized_at"]) if row["summarized_at"] else None,
    )
