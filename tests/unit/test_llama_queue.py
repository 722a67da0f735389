"""The line before the local model: order, what those waiting hear, and an honest time to come back."""

import asyncio

import pytest

from tertulia.adapters.embedded.llama_queue import LlamaQueue
from tertulia.domain.errors import ModelBusy


class Line:
    """Callers who note what they hear and stay until they are let go."""

    def __init__(self, queue: LlamaQueue) -> None:
        self.queue = queue
        self.heard: dict[str, list[int]] = {}
        self.running: list[str] = []
        self.go: dict[str, asyncio.Event] = {}

    async def call(self, name: str) -> None:
        self.heard[name], self.go[name] = [], asyncio.Event()
        with self.queue.place() as place:
            async for ahead in place.until_first():
                self.heard[name].append(ahead)
            self.running.append(name)
            await self.go[name].wait()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def time() -> list[float]:
    return [100.0]


@pytest.fixture
def line(time: list[float]) -> Line:
    return Line(LlamaQueue(now=lambda: time[0]))


async def test_callers_run_in_order_and_hear_each_move(line: Line) -> None:
    tasks = [asyncio.create_task(line.call(name)) for name in "abcd"]
    await settle()
    assert line.heard == {"a": [], "b": [1], "c": [2], "d": [3]}

    for name in "abcd":
        assert line.running[-1] == name
        line.go[name].set()
        await settle()

    await asyncio.gather(*tasks)
    assert line.running == list("abcd")
    assert line.heard["d"] == [3, 2, 1]


async def test_a_caller_who_leaves_frees_the_place(line: Line) -> None:
    tasks = [asyncio.create_task(line.call(name)) for name in "abcd"]
    await settle()
    tasks[1].cancel()
    await settle()
    tasks.append(asyncio.create_task(line.call("e")))
    await settle()

    assert line.heard == {"a": [], "b": [1], "c": [2, 1], "d": [3, 2], "e": [3]}

    for name in "acde":
        line.go[name].set()
        await settle()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert line.running == list("acde")


async def test_a_full_line_says_when_the_running_call_should_end(line: Line, time: list[float]) -> None:
    before = asyncio.create_task(line.call("before"))
    await settle()
    time[0] += 10
    line.go["before"].set()
    await before
    tasks = [asyncio.create_task(line.call(name)) for name in "abcd"]
    await settle()
    time[0] += 4

    with pytest.raises(ModelBusy) as raised:
        await line.call("e")
    assert raised.value.retry_after == pytest.approx(6.0)

    time[0] += 60
    with pytest.raises(ModelBusy) as raised:
        await line.call("e")
    assert raised.value.retry_after == 1.0

    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_an_empty_line_lets_a_caller_through_at_once(line: Line) -> None:
    task = asyncio.create_task(line.call("a"))
    await settle()

    assert line.running == ["a"]
    line.go["a"].set()
    await task
