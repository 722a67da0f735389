"""Work in the back that never keeps a person waiting: it begins when nobody is served, and stops when somebody comes."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

CALM_SECONDS = 3.0
"""How long nobody must have been served: a question often follows an answer at once."""


class GaveWay(Exception):
    """The work was stopped for a person, and is to be done later."""


class Quiet:
    """Knows whether somebody is being served in this process."""

    def __init__(self, calm_seconds: float = CALM_SECONDS) -> None:
        self._calm_seconds = calm_seconds
        self._people = 0
        self._nobody = asyncio.Event()
        self._nobody.set()
        self._somebody = asyncio.Event()

    @contextmanager
    def person(self) -> Iterator[None]:
        """Serve a person meanwhile."""
        self._people += 1
        self._nobody.clear()
        self._somebody.set()
        try:
            yield
        finally:
            self._people -= 1
            if not self._people:
                self._somebody.clear()
                self._nobody.set()

    async def until_calm(self) -> None:
        """Wait until nobody has been served for a while."""
        while True:
            await self._nobody.wait()
            try:
                async with asyncio.timeout(self._calm_seconds):
                    await self._somebody.wait()
            except TimeoutError:
                return

    async def unless_somebody_comes[Result](self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do the work to its end, or stop it and raise GaveWay."""
        working = asyncio.ensure_future(work)
        coming = asyncio.ensure_future(self._somebody.wait())
        try:
            await asyncio.wait({working, coming}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise GaveWay
            return working.result()
        finally:
            for task in (working, coming):
                task.cancel()
            await asyncio.gather(working, coming, return_exceptions=True)
