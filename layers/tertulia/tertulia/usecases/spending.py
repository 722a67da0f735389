"""What models cost: counted for each turn, and capped for a day, for each user and for the deployment."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from tertulia.domain.errors import RateLimited
from tertulia.domain.prices import MILLION
from tertulia.domain.turns import TurnRequest
from tertulia.domain.usage import UsageRecord
from tertulia.ports import Clock
from tertulia.ports.limits import UsageStore
from tertulia.usecases.wishes import Wishes

RESERVED_MICRODOLLARS = 10_000
"""What a turn is taken to cost until its receipt says so: a cent, more than a spoken turn with tools."""

_RESERVED_PART = 10
"""Where a cap is small, a turn reserves this part of it at most, so that the first one is not taken for the last."""


@dataclass(frozen=True, kw_only=True)
class Caps:
    """The most a day may cost, in microdollars; None is no cap."""

    user: int | None = None
    deployment: int | None = None

    @property
    def lowest(self) -> int | None:
        """The lower one."""
        return min((cap for cap in (self.user, self.deployment) if cap is not None), default=None)


@dataclass(frozen=True)
class _Reservation:
    day: date
    microdollars: int


class Spending:
    """Reserves what a turn may cost before it begins, and counts what it did cost; days are those of UTC."""

    def __init__(self, usage: UsageStore, wishes: Wishes, clock: Clock, caps: Caps) -> None:
        self._usage = usage
        self._wishes = wishes
        self._clock = clock
        self._caps = caps
        self._reserved: dict[str, _Reservation] = {}
        self._on_cost: list[Callable[[int], None]] = []

    def tell_cost(self, listener: Callable[[int], None]) -> None:
        """Have a listener called with the microdollars of every turn of this process."""
        self._on_cost.append(listener)

    async def caps_of(self, user: str) -> Caps:
        """Return the caps of a user, who may lower the own one."""
        wish = (await self._wishes.settings(user)).daily_spend_microdollars
        own = [cap for cap in (self._caps.user, wish) if cap is not None]
        return Caps(user=min(own, default=None), deployment=self._caps.deployment)

    async def reserve(self, request: TurnRequest, caps: Caps) -> None:
        """Reserve what a turn may cost, or raise RateLimited until the next day."""
        if caps.lowest is None:
            return
        now = self._clock.now().astimezone(UTC)
        amount = max(1, min(RESERVED_MICRODOLLARS, caps.lowest // _RESERVED_PART))
        if not await self._fits(request.user, now.date(), amount, caps.user):
            raise _refusal("Your", caps.user or 0, now)
        if not await self._fits(None, now.date(), amount, caps.deployment):
            await self._usage.reserve(request.user, now.date(), -amount, cap=None)
            raise _refusal("The assistant's", caps.deployment or 0, now)
        self._reserved[request.turn_id] = _Reservation(now.date(), amount)

    async def record(self, request: TurnRequest, used: UsageRecord) -> None:
        """Count what a turn used, in place of what was reserved for it."""
        today = self._clock.now().astimezone(UTC).date()
        reserved = self._reserved.pop(request.turn_id, _Reservation(today, 0))
        if used == UsageRecord() and not reserved.microdollars:
            return
        await self._usage.add(request.user, reserved.day, used, reserved.microdollars)
        for listener in self._on_cost:
            listener(used.cost_microdollars)

    async def _fits(self, user: str | None, day: date, amount: int, cap: int | None) -> bool:
        return (cap is None or cap > 0) and await self._usage.reserve(user, day, amount, cap)


def _refusal(whose: str, cap: int, now: datetime) -> RateLimited:
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
    left = midnight - now
    hours, minutes = divmod(max(1, round(left.total_seconds() / 60)), 60)
    return RateLimited(
        f"{whose} limit of ${cap / MILLION:.2f} a day is reached."
        f" It is free again at 00:00 UTC, in {hours} hours {minutes} minutes.",
        retry_after=left.total_seconds(),
    )
