"""The events of work that goes on in a task of its own, as they are told."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from tertulia.domain.replies import AnswerEvent

type Tell = Callable[[AnswerEvent], None]


async def told(work: Callable[[Tell], Awaitable[None]]) -> AsyncGenerator[AnswerEvent]:
    """Yield what the work tells, to its end or its failure; whoever stops listening stops it."""
    events: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()

    async def working() -> None:
        try:
            await work(events.put_nowait)
        finally:
            events.put_nowait(None)

    task = asyncio.create_task(working())
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def side_by_side[T](*steps: Awaitable[T]) -> list[T]:
    """Wait for all of the steps; when one fails, the others are stopped before its failure is raised."""
    tasks = [asyncio.ensure_future(step) for step in steps]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
