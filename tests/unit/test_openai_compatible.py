"""Servers that speak OpenAI's protocol: what they are asked, and their failures in our words."""

import logging
from collections.abc import Sequence

import pytest
from pydantic import SecretStr

from tertulia.adapters.model_failures import ModelChoice
from tertulia.adapters.model_server import ModelServer, ServerAddress
from tertulia.adapters.openai_compatible import OpenAiCompatibleChat
from tertulia.adapters.public_addresses import is_public
from tertulia.domain.errors import (
    ModelBusy,
    ModelDenied,
    ModelDown,
    ModelKey,
    ModelMissing,
    ModelUnreachable,
    ProviderFailed,
    ProviderTimeout,
    TertuliaError,
    TooLarge,
    ToolCallFailed,
)
from tertulia.domain.prompts import ChatMessage, ModelEvent, Prompt, TextDelta, TokensUsed, ToolCall, ToolSpec
from tests.fakes.clock import FakeClock
from tests.fakes.models import OPENAI_CHOICE, OPENAI_KEY, openai_server
from tests.fakes.vendor import Answer, Called, Failure, FakeGroq

GET_TIME = ToolSpec(name="get_time", description="Tells the time.", parameters={"type": "object", "properties": {}})
HELLO = Prompt(messages=(ChatMessage(role="user", parts=("Memories: tea.", "Hello")),), temperature=0.3, max_tokens=9)


async def events_of(
    chat: OpenAiCompatibleChat, prompt: Prompt = HELLO, tools: Sequence[ToolSpec] = ()
) -> list[ModelEvent]:
    return [event async for event in chat.stream(prompt, tools)]


async def failure_of(chat: OpenAiCompatibleChat, prompt: Prompt = HELLO) -> TertuliaError:
    with pytest.raises(TertuliaError) as raised:
        await events_of(chat, prompt)
    return raised.value


async def test_openai_is_asked_in_its_own_words(vendor: FakeGroq, openai: OpenAiCompatibleChat) -> None:
    events = await events_of(openai, tools=(GET_TIME,))
    [asked] = vendor.asked["chat"]
    assert asked.headers["authorization"] == f"Bearer {OPENAI_KEY}"
    body = dict(asked.body)
    assert (body["model"], body["max_completion_tokens"], body["temperature"]) == ("gpt-4.1-mini", 9, 0.3)
    assert [part["text"] for part in body["messages"][0]["content"]] == ["Memories: tea.", "Hello"]
    assert body["tools"][0]["function"]["name"] == "get_time"
    assert events[-1] == TokensUsed(tokens_in=11, tokens_out=7)


async def test_a_plain_server_gets_one_text_and_the_oldest_word_for_the_limit(
    vendor: FakeGroq, vendor_server: tuple[FakeGroq, str], clock: FakeClock
) -> None:
    server = openai_server(vendor_server[1], clock)
    await events_of(OpenAiCompatibleChat(server, ModelChoice(name="llama", setting="LLM_MODEL")))
    await server.close()
    [asked] = vendor.asked["chat"]
    assert asked.body["messages"] == [{"role": "user", "content": "Memories: tea.\n\nHello"}]
    assert asked.body["max_tokens"] == 9
    assert "tools" not in asked.body


@pytest.mark.parametrize(
    ("model", "temperature", "effort"),
    [("o4-mini", None, "low"), ("gpt-5.4-mini", None, "low"), ("gemini-2.5-flash", 0.3, "none"), ("any", 0.3, None)],
)
async def test_a_model_that_always_reasons_is_asked_for_no_temperature(
    vendor: FakeGroq,
    vendor_server: tuple[FakeGroq, str],
    clock: FakeClock,
    model: str,
    temperature: float | None,
    effort: str | None,
) -> None:
    server = openai_server(vendor_server[1], clock)
    await events_of(OpenAiCompatibleChat(server, ModelChoice(name=model, setting="LLM_MODEL")))
    await server.close()
    body = vendor.asked["chat"][0].body
    assert (body.get("temperature"), body.get("reasoning_effort")) == (temperature, effort)


@pytest.mark.parametrize("pieces", [("nu", "ll"), ("",), ("{", "}"), (None,)])
async def test_a_call_without_arguments_has_an_empty_object(
    vendor: FakeGroq, openai: OpenAiCompatibleChat, pieces: tuple[str | None, ...]
) -> None:
    """G3."""
    vendor.chats = [Answer(pieces=(), calls=(Called(name="get_time", pieces=pieces),))]
    assert (await events_of(openai, tools=(GET_TIME,)))[0] == ToolCall(id="call_1", name="get_time", arguments="{}")


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(status=401, code="invalid_api_key"), ModelKey),
        (Failure(status=400, code="API_KEY_INVALID"), ModelKey),
        (Failure(status=402), ModelDenied),
        (Failure(status=403), ModelDenied),
        (Failure(status=429, code="insufficient_quota"), ModelDenied),
        (Failure(status=404, code="model_not_found"), ModelMissing),
        (Failure(status=400, code="model_decommissioned"), ModelMissing),
        (Failure(status=404), ModelMissing),
        (Failure(status=400, code="context_length_exceeded"), TooLarge),
        (Failure(status=413), TooLarge),
        (Failure(status=400, code="tool_use_failed"), ToolCallFailed),
        (Failure(status=429), ModelBusy),
        (Failure(status=500), ModelDown),
        (Failure(status=400, code="something_new"), ProviderFailed),
        (Answer(pieces=(), garbled=True), ProviderFailed),
        (Answer(pieces=(), ends_with=Failure(code="model_not_found")), ModelMissing),
        (Answer(pieces=(), breaks=True), ModelUnreachable),
        (Answer(pieces=("The",), breaks=True), ModelUnreachable),
    ],
)
async def test_each_failure_has_its_own_name_and_none_of_the_vendors_words(
    vendor: FakeGroq, openai: OpenAiCompatibleChat, failure: Failure | Answer, kind: type[TertuliaError]
) -> None:
    vendor.chats = [failure] * 3
    raised = await failure_of(openai)
    assert type(raised) is kind
    assert raised.__cause__ is not None
    assert "vendor's own words" not in raised.message


async def test_a_withdrawn_model_is_asked_once_and_the_log_names_the_setting(
    vendor: FakeGroq, openai: OpenAiCompatibleChat, caplog: pytest.LogCaptureFixture
) -> None:
    """G10."""
    vendor.chats = [Failure(status=404, code="model_not_found")]
    with caplog.at_level(logging.ERROR):
        assert (await failure_of(openai)).message.startswith("The chosen language model does not exist any more.")
    assert len(vendor.asked["chat"]) == 1
    assert "OpenAI has no model gpt-4.1-mini: set OPENAI_MODEL" in caplog.text


@pytest.mark.parametrize(("wait", "least"), [("2", 2.0), ("7.66", 7.66), (None, 0.5)])
async def test_a_busy_server_is_waited_for_as_it_says(
    vendor: FakeGroq, openai: OpenAiCompatibleChat, clock: FakeClock, wait: str | None, least: float
) -> None:
    """G8."""
    vendor.chats = [Failure(status=429, headers={"retry-after": wait} if wait else {}), Answer(pieces=("Sunny.",))]
    assert (await events_of(openai))[0] == TextDelta("Sunny.")
    assert len(clock.sleeps) == 1
    assert least <= clock.sleeps[0] < least + 2


async def test_a_server_slower_than_the_deadline_has_timed_out(vendor: FakeGroq, openai: OpenAiCompatibleChat) -> None:
    vendor.chats = [Answer(seconds_to_first=5)]
    assert type(await failure_of(openai, Prompt(messages=HELLO.messages, seconds=0.1))) is ProviderTimeout


async def test_a_wrong_key_is_named_and_shown_nowhere(
    vendor_server: tuple[FakeGroq, str], clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = openai_server(vendor_server[1], clock, "wrong-key")
    raised = await failure_of(OpenAiCompatibleChat(server, OPENAI_CHOICE))
    await server.close()
    assert type(raised) is ModelKey
    assert "OPENAI_API_KEY" in caplog.text
    assert "wrong-key" not in caplog.text + raised.message + repr(vars(server))


async def test_an_address_inside_the_network_is_not_reached_where_only_public_ones_are(
    vendor: FakeGroq, vendor_server: tuple[FakeGroq, str], clock: FakeClock
) -> None:
    for address in (vendor_server[1], vendor_server[1].replace("127.0.0.1", "localhost")):
        secrets = {"Authorization": SecretStr(f"Bearer {OPENAI_KEY}")}
        server = ModelServer(ServerAddress(url=f"{address}/openai/v1", secrets=secrets, only_public=True), clock)
        assert type(await failure_of(OpenAiCompatibleChat(server, OPENAI_CHOICE))) is ModelUnreachable
        await server.close()
    assert vendor.asked["chat"] == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
    ],
)  # fmt: skip
def test_every_way_to_write_an_address_of_our_own_is_known(address: str) -> None:
    assert not is_public(address)


def test_an_address_on_the_internet_is_public() -> None:
    assert is_public("93.184.216.34")
    assert is_public("2606:4700:4700::1111")


async def test_a_vendor_that_numbers_every_call_alike_makes_two_calls(
    vendor: FakeGroq, openai: OpenAiCompatibleChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fakes.vendor.enumerate", _always_zero, raising=False)
    calls = (Called(name="get_time", id="a"), Called(name="get_time", id="b"))
    vendor.chats = [Answer(pieces=(), calls=calls)]
    events = await events_of(openai, tools=(GET_TIME,))
    assert [event.id for event in events if isinstance(event, ToolCall)] == ["a", "b"]


def _always_zero[T](items: Sequence[T]) -> list[tuple[int, T]]:
    return [(0, item) for item in items]
