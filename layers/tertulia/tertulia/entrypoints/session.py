"""What every command of the command line needs."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tertulia.settings import Settings

if TYPE_CHECKING:
    from tertulia.assistant import Assistant
    from tertulia.entrypoints.reach import Reach


class Session:
    """The settings and the way to the assistant; tests give an assistant of their own."""

    def __init__(self, make: "Callable[[Settings], Assistant]") -> None:
        self.make = make

    @cached_property
    def settings(self) -> Settings:
        """The settings, read when a command runs, so that help needs none."""
        return Settings()

    def run[Result](self, work: "Callable[[Reach], Coroutine[Any, Any, Result]]") -> Result:
        """Reach the assistant and do the work."""
        from tertulia.entrypoints.reach import reach

        async def working() -> Result:
            async with reach(self.settings, self.make) as assistant:
                return await work(assistant)

        return asyncio.run(working())
