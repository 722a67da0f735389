"""Tasks and queues in one process: what they answer, and how their failures are named."""

from typing import Any, cast

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from tertulia.assistant import Assistant
from tertulia.domain.errors import InvalidValue, Unavailable
from tertulia.entrypoints.tasks import Defect, Refused, Retryable, queue_handler, task_handler
from tertulia.entrypoints.telemetry import Handling
from tests.functions.conftest import Cloud, Context

FAILURES = {"again": Unavailable, "never": InvalidValue, "defect": ValueError}


async def work(assistant: Assistant, event: dict[str, Any]) -> Any:
    if failure := event.get("fail"):
        raise FAILURES[failure]("the doctor said")
    return {"profile": assistant.settings.profile}


def called(cloud: Cloud, handler: Handling, event: object) -> Any:
    return cloud.process.submit(handler, event, cast(LambdaContext, Context())).result()


def test_a_task_answers_in_json(cloud: Cloud) -> None:
    assert called(cloud, task_handler(work), {}) == {"profile": "aws"}


@pytest.mark.parametrize(
    ("event", "kind", "told"),
    [
        ({"fail": "again"}, Retryable, "Unavailable"),
        ({"fail": "never"}, Refused, "InvalidValue"),
        ({"fail": "defect"}, Defect, "ValueError"),
        ("no object", Refused, "InvalidRequest"),
    ],
)
def test_failures_are_named_and_hold_no_words(event: object, kind: type[Exception], told: str, cloud: Cloud) -> None:
    with pytest.raises(kind) as failed:
        called(cloud, task_handler(work), event)
    assert str(failed.value) == told
    assert failed.value.__suppress_context__


def test_of_several_messages_only_those_that_failed_come_again(cloud: Cloud) -> None:
    bodies = ("{}", "no json", '{"fail": "again"}', "{}")
    records = [{"messageId": str(place), "body": body} for place, body in enumerate(bodies)]
    answer = called(cloud, queue_handler(work), {"Records": records})
    assert [each["itemIdentifier"] for each in answer["batchItemFailures"]] == ["1", "2"]


def test_a_queue_without_messages_is_refused(cloud: Cloud) -> None:
    with pytest.raises(Refused, match="InvalidRequest"):
        called(cloud, queue_handler(work), {})
