"""An answer begun before it is sure that it is wanted: adopted or thrown away."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from tertulia.domain.prompts import ModelEvent


class Draft:
    """Reads a model's stream in a task of its own from the moment it is made."""

    def __init__(self, stream: AsyncGenerator[ModelEvent]) -> None:
        self._queue: asyncio.Queue[ModelEvent | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._read(stream))

    async def _read(self, stream: AsyncGenerator[ModelEvent]) -> None:
        try:
            async with aclosing(stream):
                async for event in stream:
                    self._queue.put_nowait(event)
        finally:
            self._queue.put_nowait(None)

    async def adopted(self) -> AsyncGenerator[ModelEvent]:
        """Yield what the model has written so far and what it goes on to write."""
        try:
            while (event := await self._queue.get()) is not None:
                yield event
            await self._task
        finally:
            await self.discard()

    async def discard(self) -> None:
        """Stop the model; what it wrote is lost, and so is a failure of it."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
