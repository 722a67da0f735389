"""Groq's failures in our words."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from tertulia.adapters.groq.chat import GroqChat
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.model_failures import retry_after
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
from tertulia.domain.prompts import ChatMessage, Prompt
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import Answer, Failure, FakeGroq

MODEL = "qwen/qwen3.6-27b"
PROMPT = Prompt(messages=(ChatMessage(role="user", parts=("Hello",)),))


async def failure_of(chat: GroqChat, prompt: Prompt = PROMPT) -> TertuliaError:
    with pytest.raises(TertuliaError) as raised:
        _ = [event async for event in chat.stream(prompt)]
    return raised.value


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(status=401, code="invalid_api_key"), ModelKey),
        (Failure(status=403, code="permission_denied"), ModelDenied),
        (Failure(status=400, code="model_terms_required"), ModelDenied),
        (Failure(status=400, code="organization_restricted"), ModelDenied),
        (Failure(status=404, code="model_not_found"), ModelMissing),
        (Failure(status=400, code="model_decommissioned"), ModelMissing),
        (Failure(status=400, code="tool_use_failed"), ToolCallFailed),
        (Failure(status=400, code="output_parse_failed"), ToolCallFailed),
        (Failure(status=400, code="context_length_exceeded"), TooLarge),
        (Failure(status=413, code="rate_limit_exceeded"), TooLarge),
        (Failure(status=429, code="rate_limit_exceeded"), ModelBusy),
        (Failure(status=498, code="capacity_exceeded"), ModelBusy),
        (Failure(status=500), ModelDown),
        (Failure(status=503), ModelDown),
        (Failure(status=400, code="something_new"), ProviderFailed),
        (Failure(status=404, code="unknown_url"), ProviderFailed),
        (Failure(status=422), ProviderFailed),
    ],
)
async def test_each_failure_of_the_vendor_has_its_own_name_and_keeps_its_cause(
    vendor: FakeGroq, groq: GroqConnection, failure: Failure, kind: type[TertuliaError]
) -> None:
    vendor.chats = [failure] * 3
    raised = await failure_of(GroqChat(groq, MODEL))
    assert type(raised) is kind
    assert raised.__cause__ is not None
    assert "vendor's own words" not in raised.message


async def test_a_key_that_is_not_groqs_is_refused_by_its_name(
    vendor_server: tuple[FakeGroq, str], clock: FakeClock
) -> None:
    connection = GroqConnection(SecretStr("wrong"), clock, vendor_server[1])
    raised = await failure_of(GroqChat(connection, MODEL))
    await connection.close()
    assert type(raised) is ModelKey
    assert "wrong" not in raised.message


async def test_a_server_that_is_not_there_is_unreachable_after_three_attempts(clock: FakeClock) -> None:
    connection = GroqConnection(SecretStr("gsk_test"), clock, "http://127.0.0.1:9")
    raised = await failure_of(GroqChat(connection, MODEL))
    await connection.close()
    assert type(raised) is ModelUnreachable
    assert len(clock.sleeps) == 2


async def test_an_answer_that_is_no_stream_of_events_is_a_failure_of_the_model(
    vendor: FakeGroq, groq: GroqConnection
) -> None:
    vendor.chats = [Answer(pieces=(), garbled=True)]
    assert type(await failure_of(GroqChat(groq, MODEL))) is ProviderFailed


async def test_a_vendor_slower_than_the_deadline_has_timed_out(vendor: FakeGroq, groq: GroqConnection) -> None:
    vendor.chats = [Answer(seconds_to_first=5)]
    prompt = Prompt(messages=PROMPT.messages, seconds=0.1)
    assert type(await failure_of(GroqChat(groq, MODEL), prompt)) is ProviderTimeout
    assert len(vendor.asked["chat"]) == 1


@pytest.mark.parametrize("setting", ["GROQ_LLM_MODEL", "GROQ_AGENT_MODEL"])
@pytest.mark.parametrize(
    "failure", [Failure(status=400, code="model_decommissioned"), Failure(status=404, code="model_not_found")]
)
async def test_a_withdrawn_model_is_not_asked_again_and_the_log_says_what_to_change(
    vendor: FakeGroq, groq: GroqConnection, caplog: pytest.LogCaptureFixture, failure: Failure, setting: str
) -> None:
    """G10."""
    vendor.chats = [failure]
    with caplog.at_level(logging.ERROR):
        raised = await failure_of(GroqChat(groq, "old/model", setting))
    assert raised.code == "model_missing"
    assert raised.message == "The chosen language model does not exist any more. Choose another in the settings."
    assert len(vendor.asked["chat"]) == 1
    assert "old/model" in caplog.text
    assert setting in caplog.text


NOW = datetime(2030, 12, 31, 23, 59, 55, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        (" 7.66 ", 7.66),
        ("600", 600.0),
        ("Wed, 01 Jan 2031 00:00:00 GMT", 5.0),
        ("Wed, 01 Jan 2031 00:00:00 -0000", 5.0),
        ("Tue, 31 Dec 2030 23:00:00 GMT", 0.0),
        ("-3", 0.0),
        ("", None),
        (None, None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 99 Jan 2031 00:00:00 GMT", None),
        ("2m59.56s", None),
    ],
)
def test_every_form_of_the_retry_header_is_read(header: str | None, seconds: float | None) -> None:
    """G8."""
    assert retry_after(header, NOW) == seconds


def test_a_date_far_away_is_a_long_wait() -> None:
    wait = retry_after("Wed, 01 Jan 2031 00:00:00 GMT", NOW - timedelta(days=30))
    assert wait is not None
    assert wait > 2_000_000
