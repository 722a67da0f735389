"""The follow-up in this process: durable, behind the people served, and the same whatever breaks in between."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from tertulia.assistant import Assistant
from tertulia.domain.errors import ModelDown, NotConfigured, TertuliaError, Unavailable
from tertulia.domain.prompts import Prompt
from tertulia.domain.replies import Done
from tertulia.domain.turns import Conversation, Turn
from tertulia.ports.follow_up import Job, JobKind
from tertulia.settings import Settings
from tertulia.usecases import follow_up_runner
from tertulia.usecases.follow_up_runner import MOST_ATTEMPTS, FollowUpRunner
from tertulia.usecases.quiet import Quiet
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder
from tests.fakes.scripted import ScriptedModel, Step
from tests.turns import USER, done_of, request

SUMMARY = json.dumps({"title": "Tea in Porto", "overview": "They like tea.", "action_items": ["Buy tea"]})


def assistant_or_follow_up(prompt: Prompt) -> list[Step]:
    """Answer questions with a word, and what follows them in the form that is asked for."""
    if prompt.form is None:
        return ["Hello."]
    if "title" in prompt.form["properties"]:
        return [SUMMARY]
    return [json.dumps({"facts": [{"words": prompt.messages[-1].text, "topic": "preference", "passing": False}]})]


def a_model() -> ScriptedModel:
    return ScriptedModel(scripts=(assistant_or_follow_up,))


class ClockThatYields(FakeClock):
    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> FakeClock:
    return ClockThatYields()


@pytest.fixture
def make(make_assistant: MakeAssistant, clock: FakeClock) -> Callable[..., Assistant]:
    def make(settings: Settings | None = None, **parts: object) -> Assistant:
        assistant = make_assistant(
            settings, **({"chat_model": a_model(), "clock": clock, "embedder": WordEmbedder()} | parts)
        )
        if "memories" not in parts:
            assistant.__dict__["memories"] = assistant.stores.memories(assistant.embedder)
        return assistant

    return make


async def talk(assistant: Assistant, *texts: str) -> str:
    conversation_id = None
    for text in texts:
        done = await done_of(assistant, request(text, conversation_id=conversation_id))
        conversation_id = done.conversation_id
    assert conversation_id
    return conversation_id


async def titles(assistant: Assistant) -> list[str]:
    return [each.title for each in (await assistant.conversations.page(USER)).items]


async def known(assistant: Assistant) -> list[str]:
    return sorted(memory.content for memory in await assistant.memories.list(USER))


async def states(assistant: Assistant) -> set[tuple[str, str, int]]:
    rows = await assistant.database.rows("SELECT kind, state, attempts FROM follow_up_jobs")
    return {(row["kind"], row["state"], row["attempts"]) for row in rows}


async def test_memories_come_at_once_and_the_summary_once_it_is_quiet(
    make: Callable[..., Assistant], clock: FakeClock
) -> None:
    assistant = make()
    await talk(assistant, "I like green tea", "I live in Porto")
    await assistant.follow_up_runner.drain()
    assert (await known(assistant), await titles(assistant)) == (
        ["I like green tea", "I live in Porto"],
        ["I like green tea"],
    )
    clock.move(seconds=31)
    await assistant.follow_up_runner.drain()
    [kept] = (await assistant.conversations.page(USER)).items
    assert (kept.title, kept.overview, kept.action_items[0].text) == ("Tea in Porto", "They like tea.", "Buy tea")
    assert len(await assistant.database.rows("SELECT * FROM summary_entries")) == 1


async def test_a_burst_is_summarized_once(make: Callable[..., Assistant], clock: FakeClock) -> None:
    assistant = make()
    await talk(assistant, "I like green tea", "I live in Porto", "I work at night", "I swim on Sundays")
    clock.move(seconds=31)
    await assistant.follow_up_runner.drain()
    model = assistant.chat_model
    assert isinstance(model, ScriptedModel)
    assert sum("title" in prompt.form["properties"] for prompt in model.prompts if prompt.form) == 1


async def test_a_memory_serves_a_later_conversation(make: Callable[..., Assistant], settings: Settings) -> None:
    assistant = make(settings.model_copy(update={"recall_seconds": 10.0}))
    await talk(assistant, "I like green tea")
    await assistant.follow_up_runner.drain()
    assert await known(assistant) == ["I like green tea"]
    done = await done_of(assistant, request("green tea"))
    assert done.receipt.memories_used == 1


async def test_an_interrupted_turn_is_followed_up_and_a_failed_one_is_not(make: Callable[..., Assistant]) -> None:
    slow = make(chat_model=ScriptedModel(scripts=(("a ", *["b "] * 50),), seconds_a_token=0.01))
    taken = await slow.turns.take(request("I like green tea"))
    async for _ in taken.events():
        taken.leave()
    assert await slow.jobs.next_due()
    failing = make(chat_model=ScriptedModel(scripts=((ModelDown(),),)))
    before = await states(slow)
    taken = await failing.turns.take(request("I live in Porto"))
    _ = [event async for event in taken.events()]
    assert await states(failing) == before


@dataclass
class BrokenFollowUp:
    """Cannot be handed anything."""

    error: TertuliaError

    async def start(self, conversation: Conversation, turn: Turn) -> None:
        raise self.error


async def test_a_turn_that_cannot_be_handed_over_is_stored_told_and_found_later(
    make: Callable[..., Assistant], clock: FakeClock
) -> None:
    assistant = make(follow_up=BrokenFollowUp(Unavailable()))
    done = await done_of(assistant, request("I like green tea"))
    assert isinstance(done, Done)
    assert done.receipt.degraded == ("follow_up",)
    await assistant.follow_up_runner.sweep()
    assert await assistant.jobs.next_due() is None
    clock.move(minutes=6)
    await assistant.follow_up_runner.sweep()
    await assistant.follow_up_runner.drain()
    assert await known(assistant) == ["I like green tea"]


async def test_a_model_that_fails_is_tried_again_later_and_later_and_then_left_to_a_person(
    make: Callable[..., Assistant], clock: FakeClock
) -> None:
    assistant = make()
    conversation_id = await talk(assistant, "I like green tea")
    model = assistant.chat_model
    assert isinstance(model, ScriptedModel)
    model.scripts = ((ModelDown(),),)
    waits = []
    for _ in range(MOST_ATTEMPTS - 1):
        await assistant.follow_up_runner.drain()
        [row] = await assistant.database.rows("SELECT due_at FROM follow_up_jobs WHERE kind = 'memories'")
        due = datetime.fromisoformat(row["due_at"])
        waits.append((due - clock.now()).total_seconds())
        clock.at = due
    await assistant.follow_up_runner.drain()
    assert all(2.5 * 2**place <= wait <= 7.5 * 2**place for place, wait in enumerate(waits[:3]))
    [failure] = await assistant.failed_follow_ups.failed()
    assert (failure.conversation_id, failure.step, failure.error) == (conversation_id, "memories", "model_down")

    model.scripts = (assistant_or_follow_up,)
    await assistant.follow_up_runner.drain()
    assert await known(assistant) == []
    assert await assistant.failed_follow_ups.retry(failure.turn_id)
    await assistant.follow_up_runner.drain()
    assert await known(assistant) == ["I like green tea"]
    assert await assistant.failed_follow_ups.failed() == []


class FailingMemories:
    """Breaks in a way nobody foresaw, or because something is not set up."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def recall(self, user: str, text: str, limit: int) -> list[object]:
        return []

    async def remember(self, memory: object) -> None:
        raise self.error


@pytest.mark.parametrize(("error", "code"), [(NotConfigured(), "not_configured"), (ZeroDivisionError(), "internal")])
async def test_what_trying_again_cannot_mend_is_left_to_a_person_at_once(
    make: Callable[..., Assistant], error: Exception, code: str
) -> None:
    assistant = make(memories=FailingMemories(error))
    await talk(assistant, "I like green tea")
    await assistant.follow_up_runner.drain()
    [failure] = await assistant.failed_follow_ups.failed()
    assert failure.error == code


async def test_a_crash_between_two_steps_leaves_the_rest_to_the_next_process(
    make: Callable[..., Assistant], clock: FakeClock
) -> None:
    crashed = make()
    conversation_id = await talk(crashed, "I like green tea", "I live in Porto")
    clock.move(seconds=31)
    while (job := await crashed.jobs.take()) and job.kind is JobKind.MEMORIES:
        await crashed.remember(job.user, job.turn_id)
    turns = await crashed.conversations.turns(await crashed.conversations.get(USER, conversation_id))
    await crashed.summarize(USER, conversation_id, turns[-1].id)

    other = make()
    await other.follow_up_runner.drain()
    assert (await known(other), await states(other)) == (
        ["I like green tea", "I live in Porto"],
        {("memories", "waiting", 0), ("summary", "waiting", 0), ("summary", "done", 0)},
    )
    clock.move(minutes=6)
    await other.follow_up_runner.drain()
    assert {state for _, state, _ in await states(other)} == {"done"}
    assert await known(other) == ["I like green tea", "I live in Porto"]
    assert len(await other.database.rows("SELECT * FROM summary_entries")) == 1


async def test_two_processes_do_each_job_once(make: Callable[..., Assistant], clock: FakeClock) -> None:
    first, second = make(), make()
    await talk(first, "I like green tea", "I live in Porto", "I work at night")
    clock.move(seconds=31)
    await asyncio.gather(first.follow_up_runner.drain(), second.follow_up_runner.drain())
    prompts = [
        prompt
        for assistant in (first, second)
        for prompt in assistant.chat_model.prompts  # type: ignore[attr-defined]  # scripted
        if prompt.form
    ]
    assert len(prompts) == 4
    assert len(await known(first)) == 3


@asynccontextmanager
async def running(runner: FollowUpRunner) -> AsyncIterator[None]:
    task = asyncio.create_task(runner.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await holds():
            await asyncio.sleep(0.01)


async def test_the_runner_gives_way_to_a_person_and_goes_on_after_them(
    make: Callable[..., Assistant],
) -> None:
    slow = ScriptedModel(scripts=(assistant_or_follow_up,), seconds_to_first=0.2)
    assistant = make(chat_model=slow, quiet=Quiet(0.0))
    model = assistant.chat_model
    assert isinstance(model, ScriptedModel)
    await talk(assistant, "I like green tea")
    async with running(assistant.follow_up_runner):

        async def is_asked() -> bool:
            return any(prompt.form for prompt in model.prompts)

        await until(is_asked)
        await talk(assistant, "I live in Porto")
        assert model.stopped >= 1
        assert await states(assistant) >= {("memories", "waiting", 0)}

        async def is_known() -> bool:
            return len(await known(assistant)) == 2

        await until(is_known)


async def test_a_runner_that_is_stopped_gives_its_job_back(make: Callable[..., Assistant], clock: FakeClock) -> None:
    assistant = make(chat_model=ScriptedModel(scripts=(assistant_or_follow_up,), seconds_to_first=0.05))
    await talk(assistant, "I like green tea")
    model = assistant.chat_model
    assert isinstance(model, ScriptedModel)
    model.seconds_to_first = 60.0
    runner = replace(assistant.follow_up_runner, quiet=None)
    async with running(runner):

        async def is_taken() -> bool:
            return any(prompt.form for prompt in model.prompts)

        await until(is_taken)
    due = await assistant.jobs.next_due()
    assert due
    assert due <= clock.now()


async def test_the_runner_outlives_a_store_that_fails_for_a_while(
    make: Callable[..., Assistant], monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant = make()
    await talk(assistant, "I like green tea")
    take, failures = assistant.jobs.take, [Unavailable(), Unavailable()]

    async def failing_take() -> Job | None:
        if failures:
            raise failures.pop()
        return await take()

    monkeypatch.setattr(assistant.jobs, "take", failing_take)
    async with running(replace(assistant.follow_up_runner, quiet=None)):

        async def is_known() -> bool:
            return bool(await known(assistant))

        await until(is_known)


async def test_a_job_that_hangs_is_given_up_before_its_lease_ends(
    make: Callable[..., Assistant], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_up_runner, "JOB_SECONDS", 0.05)
    assistant = make(chat_model=ScriptedModel(scripts=(assistant_or_follow_up,)))
    await talk(assistant, "I like green tea")
    model = assistant.chat_model
    assert isinstance(model, ScriptedModel)
    model.seconds_to_first = 60.0
    await assistant.follow_up_runner.drain()
    assert ("memories", "waiting", 1) in await states(assistant)


def test_a_job_is_shorter_than_its_lease() -> None:
    from tertulia.adapters.embedded.sqlite_jobs import LEASE

    assert timedelta(seconds=follow_up_runner.JOB_SECONDS) < LEASE
