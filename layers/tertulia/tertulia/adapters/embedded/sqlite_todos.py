"""To-dos in SQLite."""

import secrets
from sqlite3 import Row

from tertulia.adapters.cursors import sortable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.domain.errors import NotFound
from tertulia.domain.todos import DELETED_KEPT, Todo
from tertulia.ports import Clock

_LISTED = "SELECT * FROM todos WHERE user = ? AND deleted_at IS NULL"


class SqliteTodos:
    """The to-dos of users, on this machine."""

    name = "Tertulia"

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, user: str, title: str, note: str = "") -> Todo:
        """Keep a new to-do, and forget what was deleted a day ago."""
        todo = Todo(id=secrets.token_hex(6), title=title, note=note)
        now = self._clock.now()
        async with self._database.writing() as connection:
            await connection.execute("DELETE FROM todos WHERE deleted_at <= ?", (sortable(now - DELETED_KEPT),))
            await connection.execute(
                "INSERT INTO todos (user, id, title, note, created_at) VALUES (?, ?, ?, ?, ?)",
                (user, todo.id, title, note, sortable(now)),
            )
        return todo

    async def list(self, user: str, *, with_done: bool = False) -> list[Todo]:
        """Return the to-dos, the open ones alone unless told otherwise, oldest first."""
        wanted = "" if with_done else " AND is_done = 0"
        rows = await self._database.rows(f"{_LISTED}{wanted} ORDER BY created_at, id", (user,))
        return [_todo(row) for row in rows]

    async def complete(self, user: str, todo_id: str, *, done: bool = True, state: str = "") -> None:  # noqa: ARG002
        """Mark a to-do as done, or as open again."""
        await self._change("is_done = ?", "deleted_at IS NULL", (int(done), user, todo_id))

    async def delete(self, user: str, todo_id: str) -> None:
        """Take a to-do off the list."""
        await self._change("deleted_at = ?", "deleted_at IS NULL", (sortable(self._clock.now()), user, todo_id))

    async def restore(self, user: str, todo_id: str) -> Todo:
        """Bring a deleted to-do back."""
        since = sortable(self._clock.now() - DELETED_KEPT)
        await self._change("deleted_at = NULL", "deleted_at > ?", (user, todo_id, since))
        row = await self._database.row(f"{_LISTED} AND id = ?", (user, todo_id))
        if row is None:
            raise NotFound
        return _todo(row)

    async def delete_all(self, user: str) -> int:
        """Erase every to-do of the user."""
        async with self._database.writing() as connection:
            done = await connection.execute("DELETE FROM todos WHERE user = ?", (user,))
            return done.rowcount

    async def _change(self, change: str, where: str, values: tuple[str | int, ...]) -> None:
        async with self._database.writing() as connection:
            done = await connection.execute(
                f"UPDATE todos SET {change} WHERE user = ? AND id = ? AND {where}",  # noqa: S608  # our own words
                values,
            )
            if not done.rowcount:
                raise NotFound


def _todo(row: Row) -> Todo:
    return Todo(id=row["id"], title=row["title"], note=row["note"], is_done=bool(row["is_done"]))
