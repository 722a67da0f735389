"""Where one model cannot answer, the next does, as long as nothing was said."""

import asyncio

import pytest

from tertulia.adapters.fallback import FallbackChat
from tertulia.adapters.groq.chat import GroqChat
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.domain.errors import (
    ModelBusy,
    ModelDown,
    ModelKey,
    ModelMissing,
    ProviderFailed,
    ProviderTimeout,
    TooLarge,
)
from tertulia.domain.prompts import ChatMessage, ModelEvent, Prompt, TextDelta, TokensUsed
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedModel
from tests.fakes.vendor import Failure, FakeGroq

PROMPT = Prompt(messages=(ChatMessage(role="user", parts=("Hello",)),), seconds=30)


async def events_of(model: FallbackChat, prompt: Prompt = PROMPT) -> list[ModelEvent]:
    return [event async for event in model.stream(prompt)]


def saying(text: str, name: str = "second") -> ScriptedModel:
    return ScriptedModel([(text,)], name=name)


@pytest.mark.parametrize("failure", [ModelDown(), ModelKey(), ModelMissing(), ModelBusy(), ProviderFailed()])
async def test_the_next_answers_and_is_named_in_the_receipt(clock: FakeClock, failure: Exception) -> None:
    model = FallbackChat((ScriptedModel([(failure,)], name="first"), saying("Hi.")), clock)
    said, used = await events_of(model)
    assert said == TextDelta("Hi.")
    assert isinstance(used, TokensUsed)
    assert (model.name, used.model) == ("first", "second")


async def test_nothing_falls_back_once_a_word_is_out(clock: FakeClock) -> None:
    second = saying("Hi.")
    events = FallbackChat((ScriptedModel([("The", ModelDown())]), second), clock).stream(PROMPT)
    assert await anext(events) == TextDelta("The")
    with pytest.raises(ModelDown):
        await anext(events)
    assert second.prompts == []


async def test_a_question_too_large_is_told_and_not_sent_to_everybody(clock: FakeClock) -> None:
    second = saying("Hi.")
    with pytest.raises(TooLarge):
        await events_of(FallbackChat((ScriptedModel([(TooLarge(),)]), second), clock))
    assert second.prompts == []


async def test_where_all_fail_the_first_failure_is_told(clock: FakeClock) -> None:
    with pytest.raises(ModelBusy):
        await events_of(FallbackChat((ScriptedModel([(ModelBusy(),)]), ScriptedModel([(ModelKey(),)])), clock))


async def test_a_silent_model_leaves_time_for_the_next(clock: FakeClock) -> None:
    silent = ScriptedModel(seconds_to_first=30)
    prompt = Prompt(messages=PROMPT.messages, seconds=0.2)
    async with asyncio.timeout(2):
        assert (await events_of(FallbackChat((silent, saying("Hi.")), clock), prompt))[0] == TextDelta("Hi.")
    assert silent.stopped == 1
    with pytest.raises(ProviderTimeout):
        await events_of(FallbackChat((silent, ScriptedModel(seconds_to_first=30)), clock), prompt)


async def test_a_model_that_asked_to_be_left_alone_is_asked_last_until_then(clock: FakeClock) -> None:
    busy = ScriptedModel([(ModelBusy(retry_after=40.0),), ("I am back.",)], name="first")
    model = FallbackChat((busy, saying("Hi.")), clock)
    await events_of(model)
    await events_of(model)
    assert len(busy.prompts) == 1
    clock.move(seconds=41)
    assert (await events_of(model))[0] == TextDelta("I am back.")


async def test_a_vendor_is_not_waited_for_while_another_stands_by(
    vendor: FakeGroq, groq: GroqConnection, clock: FakeClock
) -> None:
    vendor.chats = [Failure(status=429, headers={"retry-after": "20"})]
    model = FallbackChat((GroqChat(groq, "qwen/qwen3.6-27b"), saying("Hi.")), clock)
    assert (await events_of(model))[0] == TextDelta("Hi.")
    assert clock.sleeps == []


async def test_closing_the_stream_stops_whoever_answers(clock: FakeClock) -> None:
    second = ScriptedModel([("on ",) * 1000])
    events = FallbackChat((ScriptedModel([(ModelDown(),)]), second), clock).stream(PROMPT)
    await anext(events)
    await events.aclose()
    assert second.stopped == 1
