"""Claims of client message ids in SQLite."""

from datetime import datetime, timedelta
from sqlite3 import Row

from tertulia.adapters.cursors import sortable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.ports import Claim, Clock

_HELD = timedelta(hours=24)


class SqliteTurnClaims:
    """Exactly one turn for one client_message_id, over all processes that share the file."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def claim(self, claim: Claim) -> Claim:
        """Store the claim and return it, or return the one that holds its key already."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute(
                "DELETE FROM turn_claims WHERE claimed_at <= ?", (sortable(self._clock.now() - _HELD),)
            )
            await connection.execute(
                "INSERT INTO turn_claims (user, key, digest, turn_id, claimed_at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (user, key) DO NOTHING",
                (claim.user, claim.key, claim.digest, claim.turn_id, sortable(claim.claimed_at)),
            )
            [row] = await connection.execute_fetchall(
                "SELECT * FROM turn_claims WHERE user = ? AND key = ?", (claim.user, claim.key)
            )
        return _claim(row)

    async def find(self, user: str, key: str) -> Claim | None:
        """Return the claim that holds a key."""
        row = await self._database.row(
            "SELECT * FROM turn_claims WHERE user = ? AND key = ? AND claimed_at > ?",
            (user, key, sortable(self._clock.now() - _HELD)),
        )
        return _claim(row) if row else None

    async def release(self, claim: Claim) -> None:
        """Give the key back, where this claim holds it."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute(
                "DELETE FROM turn_claims WHERE user = ? AND key = ? AND turn_id = ?",
                (claim.user, claim.key, claim.turn_id),
            )


def _claim(row: Row) -> Claim:
    return Claim(**{**dict(row), "claimed_at": datetime.fromisoformat(row["claimed_at"])})
