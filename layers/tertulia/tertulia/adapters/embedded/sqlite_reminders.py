"""Reminders in SQLite."""

from datetime import datetime

from tertulia.adapters.cursors import sortable
from tertulia.adapters.embedded.sqlite import Database, Value
from tertulia.adapters.reminder_documents import reminder_document, reminder_of
from tertulia.domain.errors import Conflict, NotFound
from tertulia.domain.reminders import KEPT, Reminder
from tertulia.ports import Clock

_MOST_DUE = 50


class SqliteReminders:
    """The reminders of users, on this machine."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, reminder: Reminder) -> None:
        """Keep a new reminder, and forget what is long over."""
        now = self._clock.now()
        async with self._database.writing() as connection:
            await connection.execute(
                "DELETE FROM reminders WHERE is_open = 0 AND changed_at <= ?", (sortable(now - KEPT),)
            )
            await connection.execute(
                "INSERT INTO reminders (revision, due_at, is_open, is_to_be_told, changed_at, document, user, id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                self._columns(reminder),
            )

    async def get(self, user: str, reminder_id: str) -> Reminder:
        """Return a reminder of the user's, or raise NotFound."""
        sql = "SELECT document FROM reminders WHERE user = ? AND id = ?"
        if row := await self._database.row(sql, (user, reminder_id)):
            return reminder_of(row["document"])
        raise NotFound

    async def save(self, reminder: Reminder) -> None:
        """Keep a changed reminder, unless another change was faster."""
        async with self._database.writing() as connection:
            done = await connection.execute(
                "UPDATE reminders SET revision = ?, due_at = ?, is_open = ?, is_to_be_told = ?, changed_at = ?,"
                " document = ? WHERE user = ? AND id = ? AND revision = ?",
                (*self._columns(reminder), reminder.revision - 1),
            )
        if not done.rowcount:
            await self.get(reminder.user, reminder.id)
            raise Conflict

    async def open(self, user: str) -> list[Reminder]:
        """Return the reminders that ring or will."""
        return await self._read("user = ? AND is_open = 1", (user,))

    async def to_be_told(self, user: str) -> list[Reminder]:
        """Return the reminders that the user's next turn begins with, oldest first."""
        told = await self._read("user = ? AND is_to_be_told = 1", (user,))
        return sorted(told, key=lambda reminder: (str(reminder.rang_at), reminder.id))

    async def due(self, now: datetime) -> list[Reminder]:
        """Return reminders that are due, the oldest first."""
        return await self._read("due_at <= ?", (sortable(now),))

    async def next_due(self) -> datetime | None:
        """Return when the next one is due."""
        row = await self._database.row("SELECT MIN(due_at) AS due_at FROM reminders WHERE due_at IS NOT NULL")
        return datetime.fromisoformat(row["due_at"]) if row and row["due_at"] else None

    async def delete_all(self, user: str) -> int:
        """Erase every reminder of the user."""
        async with self._database.writing() as connection:
            done = await connection.execute("DELETE FROM reminders WHERE user = ?", (user,))
            return done.rowcount

    async def _read(self, where: str, values: tuple[str, ...]) -> list[Reminder]:
        order = f"ORDER BY due_at IS NULL, due_at, id LIMIT {_MOST_DUE if where.startswith('due') else -1}"
        rows = await self._database.rows(
            f"SELECT document FROM reminders WHERE {where} {order}",  # noqa: S608  # our own words
            values,
        )
        return [reminder_of(row["document"]) for row in rows]

    def _columns(self, reminder: Reminder) -> tuple[Value, ...]:
        return (
            reminder.revision,
            sortable(reminder.due_at) if reminder.due_at else None,
            int(reminder.is_open),
            int(reminder.is_to_be_told),
            sortable(self._clock.now()),
            reminder_document(reminder),
            reminder.user,
            reminder.id,
        )
