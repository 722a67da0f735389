"""The shipped state machines, run by moto's interpreter; whoever runs a task is chosen by the test.

Two private names of moto are reached, so moto is pinned: its own way to run a function needs Docker.
"""

import io
import json
import re
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto.awslambda.models import LambdaFunction

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient
    from mypy_boto3_stepfunctions.type_defs import DescribeExecutionOutputTypeDef, HistoryEventTypeDef

INFRA = Path(__file__).parents[2] / "infra"
PLACE: Any = {"region_name": "eu-central-1", "aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
MOST_STATE_BYTES = 262_144
_FUNCTION = re.compile(r"\$\{(\w+)Arn\}")
EXECUTES: Any = {"stepfunctions": {"execute_state_machine": True}}

type Event = dict[str, Any]
type Task = Callable[[str, Event], Any]
"""Runs the function of this name: returns its answer, or raises what it raises."""


def run_tasks_by(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every function in moto run by a task, its failure told as the Lambda runtime tells it."""

    def invoke(function: LambdaFunction, event: Any = None) -> tuple[str, bool, str]:
        state = event if isinstance(event, dict) else json.loads(event or "{}")
        try:
            return json.dumps(task(function.function_name, state)), False, ""
        except Exception as error:
            told = {"errorMessage": str(error), "errorType": type(error).__name__, "stackTrace": []}
            return json.dumps(told), True, ""

    monkeypatch.setattr(LambdaFunction, "_invoke_lambda", invoke)


def shipped(name: str) -> str:
    """Return a state machine file as it is deployed."""
    return (INFRA / f"{name}.asl.json").read_text("utf-8")


def functions_of(definition: str) -> list[str]:
    """Return the folders of the functions that a definition names: `${LoadTurnsArn}` is `load_turns`."""
    return sorted({_folder(place) for place in _FUNCTION.findall(definition)})


@dataclass(frozen=True)
class Machine:
    """A state machine in moto."""

    arn: str
    client: "SFNClient"

    def ended(self, name: str, seconds: float = 20.0) -> "DescribeExecutionOutputTypeDef":
        """Wait for the end of an execution."""
        deadline = time.monotonic() + seconds
        while (found := self.client.describe_execution(executionArn=self._execution(name)))["status"] == "RUNNING":
            assert time.monotonic() < deadline, f"{name} still runs"
            time.sleep(0.02)
        return found

    def history(self, name: str) -> "list[HistoryEventTypeDef]":
        """Return everything that happened in an execution."""
        pages = self.client.get_paginator("get_execution_history").paginate(executionArn=self._execution(name))
        return [event for page in pages for event in page["events"]]

    def names(self) -> list[str]:
        """Return the names of all executions."""
        listed = self.client.list_executions(stateMachineArn=self.arn)["executions"]
        return sorted(execution["name"] for execution in listed)

    def _execution(self, name: str) -> str:
        return f"{self.arn.replace(':stateMachine:', ':execution:')}:{name}"


def deploy(name: str) -> Machine:
    """Create the functions and the state machine of a shipped file; only the time between attempts is shortened."""
    definition = shipped(name)
    arns = {function: _function(function) for function in functions_of(definition)}
    filled = _FUNCTION.sub(lambda place: arns[_folder(place[1])], definition)
    client: SFNClient = _client("stepfunctions")
    made = client.create_state_machine(name=name, definition=json.dumps(_hastened(json.loads(filled))), roleArn=_role())
    return Machine(made["stateMachineArn"], client)


def state_sizes(history: "list[HistoryEventTypeDef]") -> list[int]:
    """Return the bytes of every input and output in a history."""
    return [
        len(value.encode())
        for event in history
        for details in event.values()
        if isinstance(details, Mapping)
        for field, value in details.items()
        if field in {"input", "output"} and isinstance(value, str)
    ]


def _hastened(definition: Any) -> Any:
    if isinstance(definition, list):
        return [_hastened(part) for part in definition]
    if not isinstance(definition, dict):
        return definition
    quick = {"IntervalSeconds": 1, "BackoffRate": 1.0} if "IntervalSeconds" in definition else {}
    return {name: _hastened(part) for name, part in definition.items()} | quick


def _folder(place: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", place).lower()


def _function(name: str) -> str:
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("handler.py", "")
    made = _client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=_role(),
        Handler="handler.handler",
        Code={"ZipFile": code.getvalue()},
    )
    return str(made["FunctionArn"])


def _role() -> str:
    iam = _client("iam")
    try:
        return str(iam.create_role(RoleName="tasks", AssumeRolePolicyDocument="{}")["Role"]["Arn"])
    except iam.exceptions.EntityAlreadyExistsException:
        return str(iam.get_role(RoleName="tasks")["Role"]["Arn"])


@cache
def _client(service: Any) -> Any:
    """Make one client for all tests, since making one takes longer than a test."""
    return boto3.client(service, **PLACE)
