"""The state machine of the cloud and the queue of a laptop keep the same of the same turns."""

import threading
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

import pytest

from tertulia.assistant import Assistant
from tertulia.domain.summaries import Vector
from tertulia.domain.turns import Conversation, Turn
from tertulia.settings import Settings
from tertulia.usecases.follow_up import SETTLED_SECONDS
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import ME, NOON, a_turn
from tests.workflow.cloud import Cloud
from tests.workflow.conftest import parts_that_listen
from tests.workflow.listening_model import Listener

DAY: Sequence[Sequence[Turn]] = (
    [a_turn("t1", 1, text="I like tea. Where do I find some?")],
    [a_turn("t2", 2, text="I live in Lisbon. I have an exam today.", interrupted=True)],
    [a_turn(f"t{place}", place, text=f"I am number {place}.") for place in (3, 4, 5)],
    [a_turn("t6", 6, text="我喜欢喝茶。", language="zh-CN"), a_turn("t7", 7, text="I like tea")],
)
"""Turns by how they come: what stands together comes at once, then it is quiet."""


class World(Protocol):
    """Somewhere that turns are followed up."""

    @property
    def assistant(self) -> Assistant: ...

    async def settle(self) -> None:
        """Let it be quiet until everything is done that is to be done."""
        ...


class InTheCloud:
    """Step Functions, whose second branch is held back until it is quiet."""

    def __init__(self, cloud: Cloud, clock: FakeClock) -> None:
        self.assistant = cloud.assistant
        self._cloud = cloud
        self._clock = clock
        cloud.functions.gates["load_turns"] = threading.Event()

    async def settle(self) -> None:
        gate = self._cloud.functions.gates["load_turns"]
        self._clock.move(seconds=SETTLED_SECONDS)
        gate.set()
        for name in self._cloud.machine.names():
            assert self._cloud.machine.ended(name)["status"] == "SUCCEEDED"
        gate.clear()


class OnALaptop:
    """The queue in SQLite."""

    def __init__(self, assistant: Assistant, clock: FakeClock) -> None:
        self.assistant = assistant
        self._clock = clock

    async def settle(self) -> None:
        self._clock.move(seconds=SETTLED_SECONDS)
        await self.assistant.follow_up_runner.drain()
        assert await self.assistant.failed_follow_ups.failed() == []


async def hold(world: World) -> dict[str, Any]:
    """Hold two conversations and return all that is kept of them."""
    long = await world.assistant.conversations.open(ME, None)
    short = await world.assistant.conversations.open(ME, None)
    await _turn(world, short, a_turn("s1", 1, text="I am a baker."))
    for turns in DAY:
        for turn in turns:
            await _turn(world, long, turn)
        await world.settle()
    return {
        "conversations": [await _told(world, conversation) for conversation in (long, short)],
        "memories": [asdict(memory) for memory in await world.assistant.memories.list(ME)],
        "found": await _found(world, "They spoke of tea"),
    }


async def _turn(world: World, conversation: Conversation, turn: Turn) -> None:
    await world.assistant.conversations.append(conversation, turn)
    await world.assistant.follow_up.start(conversation, turn)


async def _told(world: World, conversation: Conversation) -> dict[str, Any]:
    kept = asdict(await world.assistant.conversations.get(ME, conversation.id))
    return {name: value for name, value in kept.items() if name != "id"}


async def _found(world: World, text: str) -> list[tuple[str, str, float]]:
    [values] = await world.assistant.embedder.embed([text])
    vector = Vector(tuple(values), world.assistant.embedder.name)
    matches = await world.assistant.summaries.nearest(ME, vector, limit=5)
    return [(match.title, match.overview, round(match.score, 5)) for match in matches]


@pytest.fixture
async def laptop(settings: Settings) -> Any:
    clock = FakeClock()
    assistant = Assistant(settings, **parts_that_listen(Listener(), clock))
    yield OnALaptop(assistant, clock)
    await assistant.close()


async def test_the_cloud_and_a_laptop_keep_the_same_of_the_same_turns(
    cloud: Cloud, clock: FakeClock, laptop: OnALaptop
) -> None:
    here, there = await hold(laptop), await hold(InTheCloud(cloud, clock))

    assert there == here
    [long, short] = there["conversations"]
    assert long["summarized_number"] == DAY[-1][-1].answer_number
    assert long["title"] == "Talk about 我喜欢喝茶。"
    assert [item["text"] for item in long["action_items"]] == ["Buy tea"]
    assert short["summarized_at"] is None
    assert len(there["memories"]) == 7
    assert {memory["created_at"] for memory in there["memories"]} == {NOON}
    assert len(there["found"]) == 1
