"""Anthropic's protocol: what it is asked, and its failures in our words."""

from collections.abc import Sequence

import pytest

from tertulia.adapters.anthropic import AnthropicChat
from tertulia.domain.errors import (
    ModelBusy,
    ModelDenied,
    ModelDown,
    ModelKey,
    ProviderFailed,
    TertuliaError,
    TooLarge,
)
from tertulia.domain.prompts import ChatMessage, ModelEvent, Prompt, TextDelta, TokensUsed, ToolCall, ToolSpec
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.clock import FakeClock
from tests.fakes.models import ANTHROPIC_CHOICE, ANTHROPIC_KEY, anthropic_server
from tests.fakes.vendor import Answer, Called, Failure

GET_TIME = ToolSpec(name="get_time", description="Tells the time.", parameters={"type": "object", "properties": {}})
SYSTEM = ChatMessage(role="system", parts=("Be brief.",))
HELLO = Prompt(messages=(SYSTEM, ChatMessage(role="user", parts=("Memories: tea.", "Hello"))), temperature=1.5)


@pytest.fixture
def vendor(anthropic_vendor: tuple[FakeAnthropic, str]) -> FakeAnthropic:
    return anthropic_vendor[0]


async def events_of(chat: AnthropicChat, prompt: Prompt = HELLO, tools: Sequence[ToolSpec] = ()) -> list[ModelEvent]:
    return [event async for event in chat.stream(prompt, tools)]


async def test_it_is_asked_in_its_own_words(anthropic: AnthropicChat, vendor: FakeAnthropic) -> None:
    events = await events_of(anthropic, tools=(GET_TIME,))
    [asked] = vendor.asked
    assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (ANTHROPIC_KEY, "2023-06-01")
    assert (asked.body["system"], asked.body["temperature"]) == ("Be brief.", 1.0)
    [message] = asked.body["messages"]
    assert [block["text"] for block in message["content"]] == ["Memories: tea.", "Hello"]
    assert asked.body["tools"][0]["input_schema"] == GET_TIME.parameters
    assert events[-1] == TokensUsed(tokens_in=11, tokens_out=7)


async def test_two_calls_and_their_results_come_back_in_one_message_and_may_be_shown_without_tools(
    anthropic: AnthropicChat, vendor: FakeAnthropic
) -> None:
    calls = (
        Called(name="get_time", id="a", pieces=('{"zone":', ' "UTC"}')),
        Called(name="get_time", id="b", pieces=("",)),
    )
    vendor.chats = [Answer(pieces=("Let me see.",), calls=calls, reasoning="hm")]
    events = await events_of(anthropic, tools=(GET_TIME,))
    asked = (
        ToolCall(id="a", name="get_time", arguments='{"zone": "UTC"}'),
        ToolCall(id="b", name="get_time", arguments="{}"),
    )
    assert tuple(event for event in events if isinstance(event, ToolCall)) == asked
    assert [event for event in events if isinstance(event, TextDelta)] == [TextDelta("Let me see.")]

    steps = (
        ChatMessage(role="assistant", parts=("",), tool_calls=asked),
        ChatMessage(role="tool", parts=("noon",), tool_call_id="a"),
        ChatMessage(role="tool", parts=("half \ud800",), tool_call_id="b"),
    )
    await events_of(anthropic, Prompt(messages=(*HELLO.messages, *steps)))
    body = vendor.asked[-1].body
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert [block["content"] for block in body["messages"][2]["content"]] == ["noon", "half ?"]
    assert (body["tools"][0]["name"], body["tool_choice"]) == ("get_time", {"type": "none"})


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(status=401, code="authentication_error"), ModelKey),
        (Failure(status=403, code="permission_error"), ModelDenied),
        (Failure(status=413, code="request_too_large"), TooLarge),
        (Failure(status=429, code="rate_limit_error", headers={"retry-after": "600"}), ModelBusy),
        (Failure(status=529, code="overloaded_error"), ModelBusy),
        (Failure(status=500, code="api_error"), ModelDown),
        (Failure(status=400, code="invalid_request_error"), ProviderFailed),
        (Answer(pieces=("The",), ends_with=Failure(code="overloaded_error")), ModelBusy),
    ],
)
async def test_each_failure_has_its_own_name_and_none_of_the_vendors_words(
    anthropic: AnthropicChat, vendor: FakeAnthropic, failure: Failure | Answer, kind: type[TertuliaError]
) -> None:
    vendor.chats = [failure] * 3
    with pytest.raises(TertuliaError) as raised:
        await events_of(anthropic)
    assert type(raised.value) is kind
    assert "vendor's own words" not in raised.value.message


async def test_a_withdrawn_model_is_told_plainly(
    anthropic: AnthropicChat, vendor: FakeAnthropic, caplog: pytest.LogCaptureFixture
) -> None:
    vendor.chats = [Failure(status=404, code="not_found_error")]
    with pytest.raises(TertuliaError) as raised:
        await events_of(anthropic)
    assert raised.value.code == "model_missing"
    assert "ANTHROPIC_MODEL" in caplog.text


async def test_a_wrong_key_is_named_and_shown_nowhere(
    anthropic_vendor: tuple[FakeAnthropic, str], clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = anthropic_server(anthropic_vendor[1], clock, "wrong-key")
    with pytest.raises(ModelKey):
        await events_of(AnthropicChat(server, ANTHROPIC_CHOICE))
    await server.close()
    assert "ANTHROPIC_API_KEY" in caplog.text
    assert "wrong-key" not in caplog.text
