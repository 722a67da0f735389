"""Waiting steps and the journal of actions in SQLite."""

from datetime import datetime
from sqlite3 import Row

from tertulia.adapters.cursors import Position, position_of, sortable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.safety_documents import (
    JOURNAL_KEPT_FOR,
    action_document,
    action_of,
    confirmation_document,
    confirmation_of,
)
from tertulia.domain.actions import Action, NotUndoable
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.errors import NotFound
from tertulia.domain.turns import Page
from tertulia.ports import Clock


class SqliteConfirmations:
    """Steps that wait for a yes on this machine."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def ask(self, confirmation: Confirmation) -> None:
        """Keep a step, and let go of those whose time is over."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute("DELETE FROM confirmations WHERE expires_at <= ?", (self._now(),))
            await connection.execute(
                "INSERT INTO confirmations (user, id, conversation_id, expires_at, document) VALUES (?, ?, ?, ?, ?)",
                (
                    confirmation.user,
                    confirmation.id,
                    confirmation.conversation_id,
                    sortable(confirmation.expires_at),
                    confirmation_document(confirmation),
                ),
            )

    async def waiting(self, user: str, conversation_id: str) -> Confirmation | None:
        """Return the step that was asked about last in a conversation, if its time is not over."""
        row = await self._database.row(
            "SELECT document FROM confirmations WHERE user = ? AND conversation_id = ? AND expires_at > ?"
            " ORDER BY id DESC LIMIT 1",
            (user, conversation_id, self._now()),
        )
        return confirmation_of(row["document"]) if row else None

    async def take(self, user: str, confirmation_id: str) -> Confirmation:
        """Hand a step out, to one taker alone."""
        async with self._database.writing() as connection:
            rows = list(
                await connection.execute_fetchall(
                    "DELETE FROM confirmations WHERE user = ? AND id = ? RETURNING document, expires_at",
                    (user, confirmation_id),
                )
            )
        if not rows or rows[0]["expires_at"] <= self._now():
            raise NotFound
        return confirmation_of(rows[0]["document"])

    async def forget(self, user: str, conversation_id: str) -> None:
        """Delete what waits in a conversation."""
        async with self._database.writing() as connection:
            await connection.execute(
                "DELETE FROM confirmations WHERE user = ? AND conversation_id = ?", (user, conversation_id)
            )

    async def delete_all(self, user: str) -> int:
        """Delete all that waits for the user."""
        async with self._database.writing() as connection:
            return (await connection.execute("DELETE FROM confirmations WHERE user = ?", (user,))).rowcount

    def _now(self) -> str:
        return sortable(self._clock.now())


class SqliteJournal:
    """What tools changed, on this machine."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def note(self, action: Action) -> None:
        """Keep an action, and let go of the user's oldest."""
        async with self._database.writing() as connection:
            await connection.execute(
                "DELETE FROM actions WHERE user = ? AND at <= ?",
                (action.user, sortable(self._clock.now() - JOURNAL_KEPT_FOR)),
            )
            await connection.execute(
                "INSERT INTO actions (user, id, conversation_id, at, can_be_undone, document) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    action.user,
                    action.id,
                    action.conversation_id,
                    sortable(action.at),
                    int(action.can_be_undone),
                    action_document(action),
                ),
            )

    async def get(self, user: str, action_id: str) -> Action:
        """Return an action of the user's."""
        row = await self._database.row("SELECT * FROM actions WHERE user = ? AND id = ?", (user, action_id))
        if row is None:
            raise NotFound
        return _action(row)

    async def page(self, user: str, *, cursor: str | None = None, limit: int = 50) -> Page[Action]:
        """List the user's actions, newest first."""
        before = position_of(cursor) if cursor else Position("~", "")
        rows = await self._database.rows(
            "SELECT * FROM actions WHERE user = ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?",
            (user, before.changed, before.id, limit + 1),
        )
        shown = tuple(_action(row) for row in rows[:limit])
        more = Position(sortable(shown[-1].at), shown[-1].id).as_cursor() if len(rows) > limit else None
        return Page(shown, more)

    async def since(self, user: str, conversation_id: str, at: datetime) -> list[Action]:
        """Return what was changed in a conversation since a time, newest first."""
        rows = await self._database.rows(
            "SELECT * FROM actions WHERE user = ? AND conversation_id = ? AND at >= ? ORDER BY at DESC, id DESC",
            (user, conversation_id, sortable(at)),
        )
        return [_action(row) for row in rows]

    async def claim_undo(self, user: str, action_id: str, at: datetime) -> Action:
        """Mark an action as taken back, for one caller alone."""
        async with self._database.writing() as connection:
            changed = await connection.execute(
                "UPDATE actions SET undone_at = ?"
                " WHERE user = ? AND id = ? AND can_be_undone = 1 AND undone_at IS NULL",
                (sortable(at), user, action_id),
            )
            was_free = changed.rowcount > 0
        action = await self.get(user, action_id)
        if not was_free:
            raise NotUndoable
        return action

    async def release_undo(self, user: str, action_id: str) -> None:
        """Mark it as it was before."""
        async with self._database.writing() as connection:
            await connection.execute("UPDATE actions SET undone_at = NULL WHERE user = ? AND id = ?", (user, action_id))

    async def forget(self, user: str, conversation_id: str) -> None:
        """Delete what was changed in a conversation."""
        async with self._database.writing() as connection:
            await connection.execute(
                "DELETE FROM actions WHERE user = ? AND conversation_id = ?", (user, conversation_id)
            )

    async def delete_all(self, user: str) -> int:
        """Delete all actions of the user."""
        async with self._database.writing() as connection:
            return (await connection.execute("DELETE FROM actions WHERE user = ?", (user,))).rowcount


def _action(row: Row) -> Action:
    return action_of(row["document"], row["undone_at"])
