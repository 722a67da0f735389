"""The users' own event streams in SQLite."""

from datetime import datetime
from sqlite3 import Row

from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import from_document, to_document
from tertulia.adapters.embedded.sqlite import Database
from tertulia.domain.user_events import KEPT, MOST_READ, NumberedUserEvent, UserEvent
from tertulia.ports import Clock


class SqliteUserEvents:
    """The events of users, over all processes that share the file."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def publish(self, user: str, event: UserEvent) -> int:
        """Add an event, and forget those of a week ago."""
        now = self._clock.now()
        # Once all are forgotten the time itself goes on from them: no user has a thousand events a second.
        first = int(now.timestamp() * 1000)
        # Who rings a reminder notes it in a write that waits for the disk, and that one carries the event along.
        async with self._database.writing(survives_power_loss=False) as connection:
            known = await connection.execute_fetchall(
                "SELECT number FROM user_events WHERE user = ? AND key = ? AND key <> ''", (user, event.key)
            )
            for row in known:
                return int(row["number"])
            await connection.execute("DELETE FROM user_events WHERE at <= ?", (sortable(now - KEPT),))
            [added] = await connection.execute_fetchall(
                "INSERT INTO user_events (user, number, at, name, key, document) SELECT ?,"
                " COALESCE((SELECT MAX(number) + 1 FROM user_events WHERE user = ?), ?), ?, ?, ?, ? RETURNING number",
                (user, user, first, sortable(now), event.name, event.key, to_document(dict(event.data))),
            )
            return int(added["number"])

    async def read(self, user: str, after: int) -> list[NumberedUserEvent]:
        """Return the events numbered above `after`, oldest first."""
        rows = await self._database.rows(
            "SELECT * FROM user_events WHERE user = ? AND number > ? ORDER BY number LIMIT ?", (user, after, MOST_READ)
        )
        return [_numbered(row) for row in rows]

    async def last(self, user: str) -> int:
        """Return the number of the last event, 0 where there is none."""
        row = await self._database.row("SELECT MAX(number) AS last FROM user_events WHERE user = ?", (user,))
        return int(row["last"]) if row and row["last"] is not None else 0

    async def delete_all(self, user: str) -> int:
        """Erase every event of the user."""
        async with self._database.writing() as connection:
            done = await connection.execute("DELETE FROM user_events WHERE user = ?", (user,))
            return done.rowcount


def _numbered(row: Row) -> NumberedUserEvent:
    event = UserEvent(name=row["name"], key=row["key"], data=from_document(row["document"]))
    return NumberedUserEvent(number=row["number"], event=event, at=datetime.fromisoformat(row["at"]))
