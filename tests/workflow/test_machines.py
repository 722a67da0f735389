"""What the state machine files themselves promise, and what these tests need of moto."""

import inspect
import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
from moto.awslambda.models import LambdaFunction
from moto.stepfunctions.parser.models import StepFunctionsParserBackend

from tests.workflow.cloud import FUNCTIONS
from tests.workflow.machine import INFRA, functions_of, shipped

MACHINES = sorted(path.name.removesuffix(".asl.json") for path in INFRA.glob("*.asl.json"))


def states_of(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every state of a definition, those of branches and maps too."""
    if isinstance(part, list):
        for each in part:
            yield from states_of(each)
    elif isinstance(part, dict):
        yield from part.get("States", {}).items()
        for each in part.values():
            yield from states_of(each)


def tasks_of(machine: str) -> dict[str, dict[str, Any]]:
    return {name: state for name, state in states_of(json.loads(shipped(machine))) if state["Type"] == "Task"}


def test_moto_still_has_the_private_names_that_these_tests_reach() -> None:
    assert version("moto") == "5.2.5", (
        "look whether the names below still mean the same, then write the new version here"
    )
    assert list(inspect.signature(LambdaFunction._invoke_lambda).parameters) == ["self", "event"]
    assert list(inspect.signature(StepFunctionsParserBackend.start_execution).parameters)[:3] == [
        "self",
        "state_machine_arn",
        "name",
    ]


@pytest.mark.parametrize("machine", MACHINES)
def test_every_task_is_tried_again_with_growing_random_waits_and_within_a_time(machine: str) -> None:
    assert tasks_of(machine)
    for name, task in tasks_of(machine).items():
        [retry] = task["Retry"]
        assert retry["JitterStrategy"] == "FULL", name
        assert retry["BackoffRate"] > 1, name
        assert retry["MaxAttempts"] >= 5, name
        assert {"Retryable", "States.Timeout", "Lambda.TooManyRequestsException"} <= set(retry["ErrorEquals"]), name
        assert not {"States.ALL", "States.TaskFailed"} & set(retry["ErrorEquals"]), f"{name} would retry a defect"
        assert task["TimeoutSeconds"] <= 900, f"{name} may run longer than any function"


@pytest.mark.parametrize("machine", MACHINES)
def test_no_task_hides_its_failure(machine: str) -> None:
    assert not [name for name, state in states_of(json.loads(shipped(machine))) if "Catch" in state]
    assert json.loads(shipped(machine))["TimeoutSeconds"] > 0


@pytest.mark.parametrize("machine", MACHINES)
def test_every_task_is_a_function_of_this_checkout(machine: str) -> None:
    assert functions_of(shipped(machine))
    for function in functions_of(shipped(machine)):
        assert (FUNCTIONS / function / "handler.py").is_file()
    assert len({task["Resource"] for task in tasks_of(machine).values()}) == len(functions_of(shipped(machine)))
