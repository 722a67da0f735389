"""An answer begun before it is sure that it is wanted: adopted or thrown away."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from tertulia.domain.memories import Memory
from tertulia.domain.prompts import ModelEvent
from tertulia.domain.turns import Turn

type Write = Callable[[tuple[Turn, ...], tuple[Memory, ...]], AsyncGenerator[ModelEvent]]
"""Begins the answer that follows these turns and knows these memories."""


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


class EarlyAnswer:
    """The simple answer, begun once the last turns are known, anew once memories are, and given up for another route."""

    def __init__(self, write: Write, *, is_wanted: bool) -> None:
        self._write = write
        self._is_wanted = is_wanted
        self._history: tuple[Turn, ...] | None = None
        self._memories: tuple[Memory, ...] = ()
        self._draft: Draft | None = None

    async def knows_history(self, turns: tuple[Turn, ...]) -> None:
        """Take the last turns."""
        self._history = turns
        await self._begin()

    async def knows_memories(self, memories: tuple[Memory, ...]) -> None:
        """Take the memories; without any, what was begun stays good."""
        if memories:
            self._memories = memories
            await self._begin()

    async def give_up(self) -> None:
        """Stop, and begin no more."""
        self._is_wanted = False
        await self._discard()

    def taken(self) -> AsyncGenerator[ModelEvent] | None:
        """Return what was begun, to go on with it; None when nothing was."""
        return self._draft.adopted() if self._draft else None

    async def _begin(self) -> None:
        if self._is_wanted and self._history is not None:
            await self._discard()
            self._draft = Draft(self._write(self._history, self._memories))

    async def _discard(self) -> None:
        if self._draft:
            await self._draft.discard()
            self._draft = None
