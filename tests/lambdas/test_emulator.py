"""The second check: what the tests' own Lambda service says is also what Amazon's emulator says."""

import json
from pathlib import Path
from typing import Any

import httpx

from tests.http.event_reader import events_in
from tests.lambdas.artifacts import Artifacts
from tests.lambdas.cloud import LocalCloud
from tests.lambdas.emulator import emulated
from tests.lambdas.trials import trial_function

STREAMING = {"TERTULIA_STREAMING": "true", "AWS_LAMBDA_EXEC_WRAPPER": "/opt/stream-bootstrap"}
EVENTS = Path(__file__).parents[1] / "events"


def called(address: str, event: object) -> httpx.Response:
    return httpx.post(address, content=json.dumps(event), timeout=120)


def asked(path: str, **more: Any) -> dict[str, Any]:
    return {"resource": path, "path": path, "httpMethod": "GET", "requestContext": {}} | more


def test_requests_and_streams_are_answered_in_the_emulator_too(artifacts: Artifacts, tmp_path: Path) -> None:
    function = trial_function(artifacts, "Trial", "handler.handler", 20, **STREAMING)
    with emulated(function, tmp_path) as address:
        whole = called(address, asked("/api/missing")).json()
        assert whole["statusCode"] == 404
        told, _, body = called(address, asked("/api/events")).content.partition(bytes(8))
        assert json.loads(told)["statusCode"] == 200
        assert json.loads(told)["cookies"] == ["one=1; Path=/; SameSite=lax", "two=2; Path=/; SameSite=lax"]
        assert body == b"".join(b"data: %d\n\n" % place for place in range(5))
        assert called(address, {}).json()["statusCode"] == 400


def test_failures_of_tasks_have_the_same_names_in_the_emulator(artifacts: Artifacts, tmp_path: Path) -> None:
    with emulated(trial_function(artifacts, "Task", "tasks.handler", 5), tmp_path) as address:
        assert called(address, {"number": 21}).json()["doubled"] == 42
        assert called(address, {"fail": "again", "words": "x"}).json()["errorType"] == "Retryable"


def test_a_turn_of_the_deployment_is_taken_in_the_emulator(local_cloud: LocalCloud, tmp_path: Path) -> None:
    with emulated(local_cloud.host.functions["ChatFunction"], tmp_path) as address:
        event = json.loads((EVENTS / "rest_chat.json").read_text("utf-8"))
        assert json.loads(called(address, event).json()["body"])["response"] == "Hello there."
        event = json.loads((EVENTS / "rest_chat_stream.json").read_text("utf-8"))
        assert events_in(called(address, event).content.partition(bytes(8))[2])[-1].name == "done"
