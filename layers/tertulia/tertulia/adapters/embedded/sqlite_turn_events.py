"""Events of running and lately ended turns in SQLite."""

from collections.abc import Sequence

from tertulia.adapters.cursors import sortable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.turn_event_batches import (
    KEPT_AFTER_END,
    KEPT_WITHOUT_END,
    batch_document,
    batch_of,
    is_last,
)
from tertulia.domain.errors import NotFound
from tertulia.domain.replies import Numbered
from tertulia.ports import Clock


class SqliteTurnEvents:
    """The events of turns, over all processes that share the file."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, user: str, turn_id: str) -> None:
        """Make the turn known as running, with no events and no wish to stop; old turns are forgotten here."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute("DELETE FROM turn_runs WHERE ended_at <= ? OR begun_at <= ?", self._oldest())
            await connection.execute("DELETE FROM turn_runs WHERE turn_id = ? AND user = ?", (turn_id, user))
            begun = await connection.execute(
                "INSERT INTO turn_runs (turn_id, user, begun_at) VALUES (?, ?, ?) ON CONFLICT (turn_id) DO NOTHING",
                (turn_id, user, sortable(self._clock.now())),
            )
            if not begun.rowcount:
                raise NotFound

    async def write(self, turn_id: str, events: Sequence[Numbered]) -> None:
        """Add events; those of a turn deleted meanwhile are dropped, since nobody may read them."""
        if not events:
            return
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO turn_events (turn_id, first_number, last_number, document)"
                " SELECT turn_id, ?, ?, ? FROM turn_runs WHERE turn_id = ?",
                (events[0].number, events[-1].number, batch_document(events), turn_id),
            )
            if is_last(events):
                await connection.execute(
                    "UPDATE turn_runs SET ended_at = ? WHERE turn_id = ?", (sortable(self._clock.now()), turn_id)
                )

    async def read(self, user: str, turn_id: str, after: int = 0) -> list[Numbered]:
        """Return the events numbered above `after`; NotFound for an unknown turn or another user's."""
        rows = await self._database.rows(
            "SELECT document FROM turn_runs LEFT JOIN turn_events"
            " ON turn_events.turn_id = turn_runs.turn_id AND last_number > ?"
            " WHERE turn_runs.turn_id = ? AND user = ? AND (ended_at IS NULL OR ended_at > ?) AND begun_at > ?"
            " ORDER BY first_number",
            (after, turn_id, user, *self._oldest()),
        )
        if not rows:
            raise NotFound
        batches = (batch_of(row["document"]) for row in rows if row["document"] is not None)
        return [each for batch in batches for each in batch if each.number > after]

    async def ask_to_stop(self, user: str, turn_id: str) -> None:
        """Ask the process that runs the turn to stop it; NotFound as above."""
        async with self._database.writing(survives_power_loss=False) as connection:
            asked = await connection.execute(
                "UPDATE turn_runs SET stop_asked = 1 WHERE turn_id = ? AND user = ?"
                " AND (ended_at IS NULL OR ended_at > ?) AND begun_at > ?",
                (turn_id, user, *self._oldest()),
            )
        if not asked.rowcount:
            raise NotFound

    async def is_asked_to_stop(self, turn_id: str) -> bool:
        """Whether somebody asked."""
        row = await self._database.row("SELECT stop_asked FROM turn_runs WHERE turn_id = ?", (turn_id,))
        return row is not None and bool(row["stop_asked"])

    def _oldest(self) -> tuple[str, str]:
        now = self._clock.now()
        return sortable(now - KEPT_AFTER_END), sortable(now - KEPT_WITHOUT_END)
