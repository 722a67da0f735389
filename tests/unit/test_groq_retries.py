"""When a call to Groq is tried again."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from tertulia.adapters.groq.chat import GroqChat
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.retrying import Retries
from tertulia.domain.errors import ModelBusy, ModelDown, ModelUnreachable, ProviderTimeout, ToolCallFailed
from tertulia.domain.prompts import ChatMessage, ModelEvent, Prompt, TextDelta, ToolSpec
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import Answer, Failure, FakeGroq

PROMPT = Prompt(messages=(ChatMessage(role="user", parts=("What is the weather?",)),))
SEARCH = ToolSpec(name="web_search", description="Searches.", parameters={"type": "object", "properties": {}})
WRITTEN_AS_TEXT = Failure(
    status=400, code="tool_use_failed", failed_generation='<function=web_search>{"query":"weather"}</function>'
)


@pytest.fixture
def chat(groq: GroqConnection) -> GroqChat:
    return GroqChat(groq, "openai/gpt-oss-20b", "GROQ_AGENT_MODEL")


def busy(wait: str | None) -> Failure:
    headers = {"retry-after": wait} if wait is not None else {}
    return Failure(status=429, code="rate_limit_exceeded", headers=headers)


async def text_of(chat: GroqChat, prompt: Prompt = PROMPT) -> str:
    return "".join([event.text async for event in chat.stream(prompt, (SEARCH,)) if isinstance(event, TextDelta)])


async def test_a_tool_call_written_as_text_is_asked_again_until_the_third_time(
    vendor: FakeGroq, chat: GroqChat, clock: FakeClock
) -> None:
    """G1."""
    vendor.chats = [WRITTEN_AS_TEXT, WRITTEN_AS_TEXT, Answer(pieces=("Sun", "ny."))]
    events: list[ModelEvent] = [event async for event in chat.stream(PROMPT, (SEARCH,))]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Sunny."
    assert len(vendor.asked["chat"]) == 3
    assert clock.sleeps == [1.0, 1.0]
    assert "web_search" not in repr(events)


async def test_the_same_failure_inside_a_stream_is_asked_again_too(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [Answer(pieces=("",), ends_with=WRITTEN_AS_TEXT), Answer(pieces=("Sunny.",))]
    assert await text_of(chat) == "Sunny."


async def test_a_fourth_attempt_is_never_made_and_nothing_of_the_call_is_told(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [WRITTEN_AS_TEXT] * 4
    with pytest.raises(ToolCallFailed) as raised:
        await text_of(chat)
    assert len(vendor.asked["chat"]) == 3
    assert "function" not in raised.value.message
    assert "function" not in str(raised.value)


async def test_nothing_is_asked_again_once_a_word_is_out(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [Answer(pieces=("The", " weather"), ends_with=WRITTEN_AS_TEXT), Answer()]
    events = chat.stream(PROMPT, (SEARCH,))
    assert [await anext(events), await anext(events)] == [TextDelta("The"), TextDelta(" weather")]
    with pytest.raises(ToolCallFailed):
        await anext(events)
    assert len(vendor.asked["chat"]) == 1


async def test_a_connection_cut_after_words_is_told_and_one_cut_before_them_is_tried_again(
    vendor: FakeGroq, chat: GroqChat
) -> None:
    vendor.chats = [Answer(pieces=("The",), breaks=True)]
    with pytest.raises(ModelUnreachable):
        await text_of(chat)
    vendor.chats = [Answer(pieces=("",), breaks=True), Answer(pieces=("Sunny.",))]
    assert await text_of(chat) == "Sunny."


@pytest.mark.parametrize(("wait", "least"), [("2", 2.0), ("7.66", 7.66), (None, 0.5), ("rubbish", 0.5)])
async def test_a_busy_vendor_is_waited_for_as_long_as_it_says(
    vendor: FakeGroq, chat: GroqChat, clock: FakeClock, wait: str | None, least: float
) -> None:
    """G8."""
    vendor.chats = [busy(wait), Answer(pieces=("Sunny.",))]
    assert await text_of(chat) == "Sunny."
    assert len(clock.sleeps) == 1
    assert least <= clock.sleeps[0] < least + 2


async def test_a_date_to_wait_for_is_waited_for(vendor: FakeGroq, chat: GroqChat, clock: FakeClock) -> None:
    """G8."""
    clock.at = datetime(2030, 12, 31, 23, 59, 50, tzinfo=UTC)
    vendor.chats = [busy("Wed, 01 Jan 2031 00:00:00 GMT"), Answer(pieces=("Sunny.",))]
    assert await text_of(chat) == "Sunny."
    assert clock.now() >= datetime(2031, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("wait", "seconds"), [("600", 600.0), ("Wed, 01 Jan 2031 00:00:00 GMT", None)])
async def test_a_wait_beyond_the_time_of_the_call_is_told_and_not_slept(
    vendor: FakeGroq, chat: GroqChat, clock: FakeClock, wait: str, seconds: float | None
) -> None:
    """G8."""
    vendor.chats = [busy(wait), Answer()]
    with pytest.raises(ModelBusy) as raised:
        await text_of(chat)
    assert clock.sleeps == []
    assert len(vendor.asked["chat"]) == 1
    assert raised.value.retry_after is not None
    assert seconds is None or raised.value.retry_after == seconds
    assert "busy" in raised.value.message
    assert str(int(raised.value.retry_after)) in raised.value.message


async def test_waits_add_up_to_the_time_of_the_call(vendor: FakeGroq, chat: GroqChat, clock: FakeClock) -> None:
    vendor.chats = [busy("40"), busy("40"), Answer()]
    with pytest.raises(ModelBusy):
        await text_of(chat)
    assert len(clock.sleeps) == 1


async def test_a_vendor_that_is_down_is_asked_three_times_with_growing_waits(
    vendor: FakeGroq, chat: GroqChat, clock: FakeClock
) -> None:
    vendor.chats = [Failure(status=503)] * 4
    with pytest.raises(ModelDown):
        await text_of(chat)
    assert len(vendor.asked["chat"]) == 3
    assert all(earlier < later for earlier, later in pairwise(clock.sleeps))


async def test_each_attempt_knows_how_much_time_is_left(clock: FakeClock) -> None:
    lefts: list[float] = []

    async def call(left: float) -> str:
        lefts.append(left)
        if len(lefts) < 3:
            raise ToolCallFailed
        return "done"

    assert await Retries(clock).run(call, 60) == "done"
    assert lefts == [60, 59, 58]


async def test_a_deadline_that_passed_is_not_tried_again(clock: FakeClock) -> None:
    calls = 0

    async def call(left: float) -> None:
        nonlocal calls
        calls += 1
        raise ProviderTimeout

    with pytest.raises(ProviderTimeout):
        await Retries(clock).run(call, 60)
    assert calls == 1
