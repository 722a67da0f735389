"""A clock that stands still until somebody sleeps."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass
class FakeClock:
    """Sleeping moves it on at once, and is written down."""

    at: datetime = datetime(2030, 6, 1, 12, tzinfo=UTC)
    sleeps: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.at += timedelta(seconds=seconds)

    def move(self, **time: float) -> None:
        """Let time pass: `move(hours=24)`."""
        self.at += timedelta(**time)
