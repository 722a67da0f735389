"""Rates, spending and usage in DynamoDB."""

import asyncio
from datetime import UTC, date, datetime, time, timedelta

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.documents import from_document, to_document
from tertulia.adapters.usage_rows import KEPT_DAYS, days_of, rows_of
from tertulia.domain.errors import Unavailable
from tertulia.domain.usage import DayOfUsage, UsageRecord
from tertulia.ports import Clock

_MOST_ATTEMPTS = 8
_DEPLOYMENT = "DEPLOYMENT"


class DynamoRates:
    """The rate counter of the cloud: all hits of a kind in one item, written on the condition that it is unchanged."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def hit(self, user: str, kind: str, limit: int, window_seconds: float, mark: str) -> float | None:
        """Count a hit, or return the seconds until there is room for it."""
        for attempt in range(_MOST_ATTEMPTS):
            now = self._clock.now().timestamp()
            item = await self._table.get(_rate(user, kind))
            live = _live(item, now)
            if mark in live:
                return None
            if len(live) >= limit:
                return sorted(live.values())[len(live) - limit] - now
            if await self._keep(_rate(user, kind), item, live | {mark: now + window_seconds}):
                return None
            await asyncio.sleep(0.005 * 2**attempt)
        raise Unavailable

    async def forget(self, user: str, kind: str, mark: str) -> None:
        """Make room again before the window has passed."""
        for attempt in range(_MOST_ATTEMPTS):
            item = await self._table.get(_rate(user, kind))
            live = _live(item, self._clock.now().timestamp())
            if mark not in live or await self._keep(_rate(user, kind), item, {**live, mark: 0.0}):
                return
            await asyncio.sleep(0.005 * 2**attempt)
        raise Unavailable

    async def _keep(self, key: Key, before: Item | None, hits: dict[str, float]) -> bool:
        version = before["version"] if before else 0
        after = {
            **key._asdict(),
            "hits": to_document({mark: until for mark, until in hits.items() if until}),
            "version": version + 1,
            "expires_at": int(max(hits.values())) + 1,
        }
        condition = "#version = :version" if before else "attribute_not_exists(#pk)"
        try:
            await self._table.put(after, condition, {":version": version} if before else None)
        except ConditionFailed:
            return False
        return True


class DynamoUsage:
    """The usage of the cloud, in counters that grow without being read."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    async def reserve(self, user: str | None, day: date, microdollars: int, cap: int | None) -> bool:
        """Count as spent what a turn may cost, unless so much as the cap is spent."""
        condition = "" if cap is None else "attribute_not_exists(#microdollars) OR #microdollars < :cap"
        try:
            await self._grow(_spending(user, day), day, {"microdollars": microdollars}, condition, cap)
        except ConditionFailed:
            return False
        return True

    async def add(self, user: str, day: date, used: UsageRecord, reserved: int = 0) -> None:
        """Count what was used, in place of what was reserved for it."""
        left = {"microdollars": used.cost_microdollars - reserved}
        counted = [(_spending(owner, day), left) for owner in (user, None) if any(left.values())]
        counted += [(_usage(user, day, model), counts) for model, counts in rows_of(used) if any(counts.values())]
        await asyncio.gather(*(self._grow(key, day, counts) for key, counts in counted))

    async def spent(self, user: str | None, day: date) -> int:
        """Return the microdollars spent or reserved on a day."""
        item = await self._table.get(_spending(user, day))
        return item["microdollars"] if item else 0

    async def days(self, user: str, since: date) -> list[DayOfUsage]:
        """Return what the user used on each day with any use, the earliest first."""
        items = await self._table.query(_days(user, since))
        return days_of(item | {"day": item["sk"].split("#")[1], "model": item["sk"].split("#", 2)[2]} for item in items)

    async def remove(self, user: str) -> None:
        """Forget what the user used and did."""
        for kind in ("USAGE", "SPENDING", "RATE"):
            found = Query(pk=f"USER#{user}", condition="begins_with(#sk, :kind)", values={":kind": f"{kind}#"})
            await self._table.delete_all([Key(item["pk"], item["sk"]) for item in await self._table.query(found)])

    async def _grow(
        self, key: Key, day: date, counts: dict[str, int], condition: str = "", cap: int | None = None
    ) -> None:
        more = ", ".join(f"#{name} :{name}" for name in counts)
        expires_at = datetime.combine(day, time(), UTC) + timedelta(days=KEPT_DAYS)
        values = {f":{name}": count for name, count in counts.items()} | {":expires_at": int(expires_at.timestamp())}
        if cap is not None:
            values[":cap"] = cap
        await self._table.change(key, f"SET #expires_at = :expires_at ADD {more}", condition, values)


def _rate(user: str, kind: str) -> Key:
    return Key(f"USER#{user}", f"RATE#{kind}")


def _spending(user: str | None, day: date) -> Key:
    return Key(f"USER#{user}" if user is not None else _DEPLOYMENT, f"SPENDING#{day.isoformat()}")


def _usage(user: str, day: date, model: str) -> Key:
    return Key(f"USER#{user}", f"USAGE#{day.isoformat()}#{model}")


def _days(user: str, since: date) -> Query:
    values = {":first": f"USAGE#{since.isoformat()}", ":end": "USAGE#~"}
    return Query(pk=f"USER#{user}", condition="#sk BETWEEN :first AND :end", values=values)


def _live(item: Item | None, now: float) -> dict[str, float]:
    hits = from_document(item["hits"]) if item else {}
    return {mark: until for mark, until in hits.items() if until > now}
