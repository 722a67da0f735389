"""A table, a bucket and the state machines in moto, and the handlers that run their tasks."""

import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models import DynamoDBBackend

from tertulia.adapters.aws.dynamodb import DynamoTable, table_definition
from tertulia.adapters.aws.dynamodb_failed_executions import DynamoFailedExecutions
from tertulia.adapters.aws.recordings import AwsRecordings
from tertulia.adapters.aws.s3 import S3Blobs
from tertulia.adapters.aws.step_functions import StateMachine
from tertulia.adapters.aws.step_functions_follow_up import StepFunctionsFollowUp
from tertulia.adapters.aws.stores import AwsStores
from tertulia.adapters.embedded.loudness import LoudnessDetector
from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.assistant import Assistant
from tertulia.entrypoints import cloud as execution
from tertulia.settings import Settings
from tertulia.usecases.cut_recording import CutRecording
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder
from tests.fakes.scripted import scripted_parts
from tests.functions import conftest as functions
from tests.workflow.cloud import Cloud, Functions
from tests.workflow.listening_model import Listener
from tests.workflow.machine import EXECUTES, PLACE, Machine, deploy, run_tasks_by

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client


fresh_logger = functions.fresh_logger


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", PLACE["region_name"])
    # For each failed state it would log the whole machine.
    monkeypatch.setattr(logging.getLogger("moto.stepfunctions"), "level", logging.CRITICAL)
    # DynamoDB decides on a condition and writes in one step; moto's threads could all decide before the first one writes.
    deciding = threading.Lock()
    for name in ("put_item", "update_item", "delete_item"):
        monkeypatch.setattr(DynamoDBBackend, name, _one_at_a_time(getattr(DynamoDBBackend, name), deciding))
    with mock_aws(config=EXECUTES):
        yield


@pytest.fixture(scope="session")
def dynamodb() -> "DynamoDBClient":
    return boto3.client("dynamodb", **PLACE)


@pytest.fixture(scope="session")
def s3() -> "S3Client":
    return boto3.client("s3", **PLACE)


@pytest.fixture
def table(aws: None, dynamodb: "DynamoDBClient") -> DynamoTable:
    dynamodb.create_table(**table_definition("tertulia"))
    return DynamoTable("tertulia", dynamodb)


@pytest.fixture
def after_turn(aws: None) -> Machine:
    return deploy("after_turn")


@pytest.fixture
def recording(aws: None) -> Machine:
    return deploy("recording")


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def cloud(
    settings: Settings,
    table: DynamoTable,
    after_turn: Machine,
    recording: Machine,
    s3: "S3Client",
    clock: FakeClock,
    listener: Listener,
    fresh_logger: None,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Cloud]:
    """Return a deployment whose workflows are run by the handlers of this checkout."""
    deployed = settings.model_copy(
        update={"profile": "aws", "after_turn_arn": after_turn.arn, "recording_arn": recording.arn}
    )
    s3.create_bucket(Bucket="tertulia", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    stores = AwsStores("tertulia", "tertulia", clock)
    stores.table, stores.blobs, stores.recordings = table, S3Blobs("tertulia", s3), AwsRecordings(table, "tertulia", s3)
    machines = {"after_turn": StateMachine(after_turn.arn, after_turn.client), "recording": StateMachine(recording.arn)}
    failures = DynamoFailedExecutions(table, machines, clock)
    shared = parts_that_listen(listener, clock) | {"stores": stores, "failed_executions": failures}
    shared["cut_recording"] = CutRecording(recordings=stores.recordings, part_seconds=2)
    # Nobody waits for a conversation to go quiet here: what must be held back stands before a gate.
    follow_up = StepFunctionsFollowUp(machines["after_turn"], failures, quiet_seconds=0)
    assistant = Assistant(deployed, **shared, follow_up=follow_up)
    environment = execution.Environment(Assistant(deployed, **shared))
    monkeypatch.setattr(execution, "environment", lambda: environment)
    with ThreadPoolExecutor(1) as process:
        ran_by = Functions(process)
        run_tasks_by(ran_by, monkeypatch)
        yield Cloud(assistant, after_turn, recording, ran_by, listener)
        process.submit(environment.close).result()
    await assistant.close()


def parts_that_listen(listener: Listener, clock: FakeClock) -> dict[str, Any]:
    """Return the parts of an assistant that writes what the listener writes; its memories are the real ones."""
    parts = scripted_parts(listener.model()) | {
        "embedder": WordEmbedder(),
        "clock": clock,
        "decoder": PyavDecoder(),
        "detector": LoudnessDetector(),
        "transcriber": listener,
    }
    del parts["memories"]
    return parts


def _one_at_a_time(write: Callable[..., Any], deciding: threading.Lock) -> Callable[..., Any]:
    def write_alone(*arguments: Any, **named: Any) -> Any:
        with deciding:
            return write(*arguments, **named)

    return write_alone
