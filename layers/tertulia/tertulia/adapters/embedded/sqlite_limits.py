"""Rates, spending and usage in SQLite."""

from datetime import date, timedelta
from typing import TYPE_CHECKING

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.usage_rows import COUNTS, KEPT_DAYS, days_of, rows_of
from tertulia.domain.usage import DayOfUsage, UsageRecord
from tertulia.ports import Clock

if TYPE_CHECKING:
    from aiosqlite import Connection

_DEPLOYMENT = ""


class SqliteRates:
    """The rate counter of a laptop, over all processes that share the file."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def hit(self, user: str, kind: str, limit: int, window_seconds: float, mark: str) -> float | None:
        """Count a hit, or return the seconds until there is room for it."""
        now = self._clock.now().timestamp()
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute("DELETE FROM hits WHERE until <= ?", (now,))
            rows = await connection.execute_fetchall(
                "SELECT mark, until FROM hits WHERE user = ? AND kind = ? ORDER BY until", (user, kind)
            )
            live = [(row["mark"], row["until"]) for row in rows]
            if any(known == mark for known, _ in live):
                return None
            if len(live) >= limit:
                return float(live[len(live) - limit][1] - now)
            await connection.execute(
                "INSERT INTO hits (user, kind, mark, until) VALUES (?, ?, ?, ?)",
                (user, kind, mark, now + window_seconds),
            )
        return None

    async def forget(self, user: str, kind: str, mark: str) -> None:
        """Make room again before the window has passed."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute("DELETE FROM hits WHERE user = ? AND kind = ? AND mark = ?", (user, kind, mark))


class SqliteUsage:
    """The usage of a laptop."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def reserve(self, user: str | None, day: date, microdollars: int, cap: int | None) -> bool:
        """Count as spent what a turn may cost, unless so much as the cap is spent."""
        async with self._database.writing(survives_power_loss=False) as connection:
            # Without a row nothing is spent, and a cap is never 0.
            changed = await connection.execute(
                "INSERT INTO spending (user, day, microdollars) VALUES (?, ?, ?) ON CONFLICT (user, day) DO UPDATE"
                " SET microdollars = microdollars + excluded.microdollars WHERE ? IS NULL OR microdollars < ?",
                (_owner(user), day.isoformat(), microdollars, cap, cap),
            )
            return changed.rowcount > 0

    async def add(self, user: str, day: date, used: UsageRecord, reserved: int = 0) -> None:
        """Count what was used, in place of what was reserved for it."""
        async with self._database.writing() as connection:
            for owner in (user, _DEPLOYMENT):
                await connection.execute(
                    "INSERT INTO spending (user, day, microdollars) VALUES (?, ?, ?) ON CONFLICT (user, day) DO UPDATE"
                    " SET microdollars = microdollars + excluded.microdollars",
                    (owner, day.isoformat(), used.cost_microdollars - reserved),
                )
            for model, counts in rows_of(used):
                if any(counts.values()):
                    await _count(connection, (user, day.isoformat(), model), counts)
            oldest = (self._clock.now().date() - timedelta(days=KEPT_DAYS)).isoformat()
            for table in ("usage", "spending"):
                await connection.execute(f"DELETE FROM {table} WHERE day < ?", (oldest,))  # noqa: S608

    async def spent(self, user: str | None, day: date) -> int:
        """Return the microdollars spent or reserved on a day."""
        row = await self._database.row(
            "SELECT microdollars FROM spending WHERE user = ? AND day = ?", (_owner(user), day.isoformat())
        )
        return row["microdollars"] if row else 0

    async def days(self, user: str, since: date) -> list[DayOfUsage]:
        """Return what the user used on each day with any use, the earliest first."""
        return days_of(
            await self._database.rows(
                "SELECT * FROM usage WHERE user = ? AND day >= ? ORDER BY day, model", (user, since.isoformat())
            )
        )

    async def remove(self, user: str) -> None:
        """Forget what the user used and did."""
        async with self._database.writing() as connection:
            for table in ("usage", "spending", "hits"):
                await connection.execute(f"DELETE FROM {table} WHERE user = ?", (user,))  # noqa: S608


async def _count(connection: "Connection", key: tuple[str, str, str], counts: dict[str, int]) -> None:
    more = ", ".join(f"{name} = {name} + excluded.{name}" for name in COUNTS)
    await connection.execute(
        f"INSERT INTO usage (user, day, model, {', '.join(COUNTS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
        f" ON CONFLICT (user, day, model) DO UPDATE SET {more}",
        (*key, *(counts[name] for name in COUNTS)),
    )


def _owner(user: str | None) -> str:
    return _DEPLOYMENT if user is None else user
