"""What tasks promise: their failures have stable names for whoever retries them, and hold no words of people."""

import json
from typing import Any

import pytest

from tests.lambdas.runtime_api import FunctionFailed
from tests.lambdas.trials import Trial

WORDS = "the doctor said"


def failed(trial: Trial, event: object) -> FunctionFailed:
    with pytest.raises(FunctionFailed) as told:
        trial.invoke("Task", event)
    assert WORDS.encode() not in told.value.payload
    assert WORDS not in "\n".join(trial.host.logs["Task"])
    return told.value


def messages(*bodies: str) -> dict[str, Any]:
    source = {"eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:trial"}
    return {"Records": [{"messageId": str(place), "body": body, **source} for place, body in enumerate(bodies)]}


def test_a_task_answers_in_json(buffered: Trial) -> None:
    assert buffered.invoke("Task", {"number": 21}) == {"doubled": 42, "profile": "aws"}


@pytest.mark.parametrize(
    ("event", "kind", "message"),
    [
        ({"fail": "again", "words": WORDS}, "Retryable", "Unavailable"),
        ({"fail": "never", "words": WORDS}, "Refused", "InvalidValue"),
        # The gateway knows an authorizer's refusal by this very message.
        ({"fail": "unknown", "words": WORDS}, "Refused", "Unauthorized"),
        ({"sleep": 30}, "Retryable", "Unavailable"),
        ({"words": WORDS}, "Defect", "KeyError"),
        (None, "Refused", "InvalidRequest"),
        ([1], "Refused", "InvalidRequest"),
    ],
)
def test_failures_are_named_for_whoever_retries(event: object, kind: str, message: str, buffered: Trial) -> None:
    told = failed(buffered, event)
    assert told.kind == kind
    assert json.loads(told.payload)["errorMessage"] == message


def test_of_several_messages_only_those_that_failed_come_again(buffered: Trial) -> None:
    poisoned = ('{"number": 1}', "no json", '{"fail": "again", "words": "x"}', '{"number": 2}', "[]", "{}")
    answer = buffered.invoke("Queue", messages(*poisoned))
    assert [each["itemIdentifier"] for each in answer["batchItemFailures"]] == ["1", "2", "4", "5"]


def test_all_messages_may_fail(buffered: Trial) -> None:
    answer = buffered.invoke("Queue", messages("no json"))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "0"}]}


@pytest.mark.parametrize("event", [None, {}, {"Records": None}, "text"])
def test_a_queue_that_gets_no_messages_says_so(event: object, buffered: Trial) -> None:
    with pytest.raises(FunctionFailed) as told:
        buffered.invoke("Queue", event)
    assert told.value.kind == "Refused"
