"""What a rule tells of failed executions, however they ended and whatever it says."""

import json
from typing import Any

import pytest

from tertulia.domain.errors import InvalidRequest
from tertulia.entrypoints.failures import failed_execution
from tertulia.entrypoints.tasks import Refused
from tests.fakes.kept_turns import ME, a_turn
from tests.workflow.cloud import Cloud


def told(**changes: Any) -> dict[str, Any]:
    detail = {
        "name": "c1-t1",
        "status": "FAILED",
        "input": json.dumps({"user": ME, "conversation_id": "c1", "turn_id": "t1", "quiet_seconds": 30}),
        "error": "Refused",
        "cause": json.dumps({"errorMessage": "ModelKey", "errorType": "Refused", "stackTrace": []}),
    }
    return {"detail": detail | changes}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, "model_key"),
        ({"cause": json.dumps({"errorMessage": "ProviderTimeout", "errorType": "Retryable"})}, "model_timeout"),
        ({"cause": json.dumps({"errorMessage": "KeyError", "errorType": "Defect"})}, "internal"),
        ({"cause": json.dumps({"errorMessage": "ClassVar"})}, "internal"),
        ({"status": "TIMED_OUT", "error": None, "cause": None}, "timed_out"),
        ({"status": "ABORTED", "cause": "A person ended it."}, "aborted"),
        ({"cause": json.dumps(["no", "object"])}, "failed"),
    ],
)
def test_the_code_of_a_failure_is_read_from_what_the_task_named(changes: dict[str, Any], code: str) -> None:
    failure = failed_execution(told(**changes))

    assert (failure.workflow, failure.execution, failure.subject, failure.error) == ("after_turn", "c1-t1", "t1", code)


def test_a_recording_is_told_from_a_turn() -> None:
    failure = failed_execution(told(name="r1", input=json.dumps({"user": ME, "recording_id": "r1"})))

    assert (failure.workflow, failure.subject) == ("recording", "r1")


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"detail": None},
        {"detail": []},
        {"detail": {}},
        told(input=None),
        told(input="{"),
        told(input="[]"),
        told(input=json.dumps({"user": ME})),
    ],
)
def test_an_event_that_tells_of_nothing_of_ours_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        failed_execution(event)


async def test_a_failure_is_counted_for_the_alarm_and_no_words_are_logged(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = await cloud.talk(ME, [a_turn("t1", text="My secret is a pink elephant.")])
    name = f"{conversation.id}-t1"
    cloud.machine.ended(name)

    cloud.functions("record_failure", cloud.failure(name))

    shown = capsys.readouterr().out
    assert '"FailedExecutions":[1.0]' in shown
    assert "elephant" not in shown


async def test_a_poisoned_event_fails_so_that_its_dead_letter_queue_keeps_it(cloud: Cloud) -> None:
    with pytest.raises(Refused):
        cloud.functions("record_failure", {"detail": "nonsense"})

    assert await cloud.assistant.failed_follow_ups.failed() == []
