"""How much a user may ask for: requests a minute, turns at once, money a day; counted over all processes."""

from datetime import date
from typing import Protocol

from tertulia.domain.usage import DayOfUsage, UsageRecord


class RateCounter(Protocol):
    """Counts what a user does in a sliding window: any stretch of that length holds at most so many hits."""

    async def hit(self, user: str, kind: str, limit: int, window_seconds: float, mark: str) -> float | None:
        """Count a hit, or return the seconds until there is room for it; the same mark is counted once."""
        ...

    async def forget(self, user: str, kind: str, mark: str) -> None:
        """Make room again before the window has passed; a mark that is not there is fine."""
        ...


class UsageStore(Protocol):
    """What users' turns have used and cost, by day."""

    async def reserve(self, user: str | None, day: date, microdollars: int, cap: int | None) -> bool:
        """Count as spent what a turn may cost, unless so much as the cap is spent; None is the deployment."""
        ...

    async def add(self, user: str, day: date, used: UsageRecord, reserved: int = 0) -> None:
        """Count what was used, in place of what was reserved for it, for the user and the deployment."""
        ...

    async def spent(self, user: str | None, day: date) -> int:
        """Return the microdollars spent or reserved on a day; None is the deployment."""
        ...

    async def days(self, user: str, since: date) -> list[DayOfUsage]:
        """Return what the user used on each day with any use, the earliest first."""
        ...

    async def remove(self, user: str) -> None:
        """Forget what the user used and did; what the deployment spent stays."""
        ...
