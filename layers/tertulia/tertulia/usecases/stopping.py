"""Ending a stream early without losing what it gave."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from tertulia.domain.replies import AnswerEvent, Degraded


async def until(
    events: AsyncGenerator[AnswerEvent], stopping: asyncio.Event, seconds: float
) -> AsyncGenerator[AnswerEvent]:
    """Pass events on until they end, `stopping` is set, or the time is over, which is noted.

    The events are read in one task of their own: SDKs time their streams by the task they began in.
    """
    queue: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()
    reader = asyncio.create_task(_read(events, queue))
    stop = asyncio.create_task(stopping.wait())
    deadline = asyncio.get_running_loop().time() + seconds
    try:
        while True:
            coming = asyncio.ensure_future(queue.get())
            left = deadline - asyncio.get_running_loop().time()
            await asyncio.wait({coming, stop}, timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                if not stop.done():
                    yield Degraded(what="deadline")
                return
            event = coming.result()
            if event is None:
                await reader
                return
            yield event
    finally:
        stop.cancel()
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


async def _read(events: AsyncGenerator[AnswerEvent], queue: "asyncio.Queue[AnswerEvent | None]") -> None:
    try:
        async with aclosing(events):
            async for event in events:
                queue.put_nowait(event)
    finally:
        queue.put_nowait(None)
