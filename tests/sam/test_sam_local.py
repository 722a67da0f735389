"""Every function answers under `sam local invoke`, and a turn is taken through `sam local start-api`."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]  # ships no types

from tests.sam.conftest import TOKEN, USER, Cloud
from tests.sam.local import CHECKOUT, Failed, SamLocal

pytestmark = pytest.mark.sam

type Event = dict[str, Any]
EVENTS = Path(__file__).parents[1] / "events"


def recorded(name: str) -> Event:
    return dict(json.loads((EVENTS / f"{name}.json").read_text("utf-8")))


def spoken() -> Event:
    """Return the parts of an event that carry a real recording: what the recorded one carries is no sound."""
    recording = (EVENTS.parent / "recordings/capital_of_france.wav").read_bytes()
    sent = httpx.Request("POST", "http://any/api/voice", files={"audio": ("question.wav", recording, "audio/wav")})
    headers = {name.title(): value for name, value in sent.headers.items()}
    many = {name: [value] for name, value in headers.items()}
    body = base64.b64encode(sent.read()).decode()
    return {"headers": headers, "multiValueHeaders": many, "body": body, "isBase64Encoded": True}


@dataclass(frozen=True)
class Call:
    """Which event a function is called with, and what is true of its answer."""

    event: str
    holds: Callable[[Any], bool]
    fails_with: str = ""


def is_ok(answer: Any) -> bool:
    return bool(answer["statusCode"] == 200)


CALLS = {
    "ChatFunction": Call("rest_chat", lambda answer: json.loads(answer["body"])["response"] == "Hello there."),
    "VoiceFunction": Call("rest_voice", is_ok),
    "TtsFunction": Call("rest_tts", lambda answer: is_ok(answer) and answer["isBase64Encoded"]),
    "RouterFunction": Call("rest_route", lambda answer: json.loads(answer["body"])["route"] == "simple"),
    "ConversationsFunction": Call("rest_conversations", is_ok),
    "AccountFunction": Call("rest_me", is_ok),
    "HealthFunction": Call("rest_health", is_ok),
    "AuthorizerFunction": Call("authorizer", lambda answer: answer["context"]["user"] == USER),
    "ExtractMemoriesFunction": Call("workflow_turn", lambda answer: "memories" in answer),
    "LoadTurnsFunction": Call("workflow_turn", lambda answer: answer["is_due"] in (True, False)),
    "SummarizeFunction": Call("workflow_turn", lambda answer: "last_number" in answer),
    "IndexSummaryFunction": Call("workflow_turn", lambda answer: answer == {}),
    "CutRecordingFunction": Call("workflow_recording", bool, fails_with="NotFound"),
    "TranscribeRecordingFunction": Call("workflow_recording", bool, fails_with="NotFound"),
    "SummarizeRecordingFunction": Call("workflow_recording", bool, fails_with="NotFound"),
    "RecordFailureFunction": Call("failed_execution", lambda answer: bool(answer["subject"])),
    "MemoriesFunction": Call("rest_memories", is_ok),
    "SearchFunction": Call("rest_search", is_ok),
    "RemindersFunction": Call("rest_reminders", is_ok),
    "RemindFunction": Call("reminder_due", lambda answer: answer == {"rung": False}),
    "RetentionFunction": Call("schedule_daily", lambda answer: answer["users"] >= 1),
    "DeviceUplinkFunction": Call("device_up", lambda answer: answer == {}),
}


def functions() -> list[str]:
    """Return the functions of the template."""
    resources = yaml_parse((CHECKOUT / "template.yaml").read_text("utf-8"))["Resources"]
    return [name for name, each in resources.items() if each["Type"] == "AWS::Serverless::Function"]


@pytest.fixture(scope="module")
def turn(sam: SamLocal) -> Event:
    """Take a turn that the steps after it work on."""
    answer = json.loads(sam.invoke("ChatFunction", recorded("rest_chat"))["body"])
    return {"user": USER, "conversation_id": answer["conversation_id"], "turn_id": answer["turn_id"]}


def test_there_is_an_event_for_every_function() -> None:
    assert set(functions()) == set(CALLS)


@pytest.mark.parametrize("function", functions())
def test_a_function_answers_its_recorded_event(function: str, sam: SamLocal, turn: Event) -> None:
    call = CALLS[function]
    event = recorded(call.event) | (turn if call.event == "workflow_turn" else {})
    if call.event == "rest_voice":
        event |= spoken()
    if call.fails_with:
        with pytest.raises(Failed, match=call.fails_with):
            sam.invoke(function, event)
        return
    answer = sam.invoke(function, event)
    assert call.holds(answer), answer


def test_the_command_of_the_page_works_over_the_built_template_as_it_is(sam: SamLocal) -> None:
    assert is_ok(sam.invoke_as_typed("HealthFunction", EVENTS / "rest_health.json"))


def test_a_turn_is_taken_through_the_local_api_by_whom_the_authorizer_knows(sam: SamLocal, cloud: Cloud) -> None:
    cloud.vendor.forget()
    with sam.api() as url:
        ask = {"text": "What is the capital of France?"}
        answered = httpx.post(f"{url}/api/chat", json=ask, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=300)
        assert answered.status_code == 200, answered.text
        assert answered.json()["response"] == "Hello there."
        refused = httpx.post(f"{url}/api/chat", json=ask, headers={"Authorization": "Bearer wrong"}, timeout=300)
        assert refused.status_code in (401, 403)
    assert any("capital of France" in json.dumps(asked.body) for asked in cloud.vendor.asked["chat"])
