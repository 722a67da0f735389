"""The machine's own clock."""

import asyncio
from datetime import UTC, datetime


class SystemClock:
    """Tells the time and waits for real."""

    def now(self) -> datetime:
        """Return the time, with zone UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
