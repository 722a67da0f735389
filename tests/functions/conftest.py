"""One execution environment for each test: scripted models over a DynamoDB table and an S3 bucket in memory."""

import json
import logging
from collections.abc import Coroutine, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import boto3
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from moto import mock_aws

from tertulia.adapters.aws.dynamodb import DynamoTable, table_definition
from tertulia.adapters.aws.s3 import S3Blobs, signing
from tertulia.adapters.aws.stores import AwsStores
from tertulia.adapters.embedded.clock import SystemClock
from tertulia.assistant import Assistant
from tertulia.entrypoints import cloud as execution
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.functions.handlers import handler_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

REGION: Final = "eu-central-1"
NOBODY: Any = {"region_name": REGION, "aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}


@dataclass(frozen=True)
class Context:
    """What Lambda tells a function about its call."""

    function_name: str = "tertulia"
    function_version: str = "1"
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:tertulia"
    memory_limit_in_mb: int = 1769
    aws_request_id: str = "5a1c0f9e-8d3b-4c57-9a2e-0f6b7c8d9e10"
    log_group_name: str = "/aws/lambda/tertulia"
    log_stream_name: str = "2026/11/30/[1]0123456789abcdef"
    identity: None = None
    client_context: None = None

    def get_remaining_time_in_millis(self) -> int:
        return 20_000


@dataclass(frozen=True)
class Cloud:
    """The functions of one deployment, which share their data."""

    assistant: Assistant
    environment: execution.Environment
    s3: "S3Client"
    process: Executor
    """A thread of its own, since a process has one event loop and the test's thread has another."""

    def run[Result](self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do something in the environment's own loop, as between two calls."""
        return self.process.submit(self.environment.loop.run_until_complete, work).result()

    def call(self, function: str, event: str, **changes: Any) -> dict[str, Any]:
        """Call a function with a recorded event."""
        recorded = json.loads((Path(__file__).parents[1] / f"events/{event}.json").read_text("utf-8")) | changes
        answer = self.process.submit(handler_of(function), recorded, cast(LambdaContext, Context())).result()
        assert isinstance(answer, dict)
        return answer


@pytest.fixture(scope="session")
def dynamodb() -> "DynamoDBClient":
    return boto3.client("dynamodb", **NOBODY)


@pytest.fixture(scope="session")
def s3() -> "S3Client":
    return boto3.client("s3", config=signing(), **NOBODY)


@pytest.fixture
def fresh_logger() -> Iterator[None]:
    """Give the product's logger back as it was: Powertools takes it over for the whole process."""
    logger = logging.getLogger("tertulia")
    filters = {handler: list(handler.filters) for handler in logging.root.handlers}
    before = logger.__dict__ | {"handlers": list(logger.handlers)}
    logger.handlers = []
    for mark in ("init", "powertools_handler"):
        logger.__dict__.pop(mark, None)
    yield
    logger.__dict__.clear()
    logger.__dict__.update(before)
    for handler in logging.root.handlers:
        handler.filters = filters.get(handler, [])


@pytest.fixture
def cloud_parts(dynamodb: "DynamoDBClient", s3: "S3Client") -> Iterator[dict[str, Any]]:
    with mock_aws():
        dynamodb.create_table(**table_definition("tertulia"))
        s3.create_bucket(Bucket="tertulia", CreateBucketConfiguration={"LocationConstraint": REGION})
        stores = AwsStores("tertulia", "tertulia", SystemClock())
        stores.table = DynamoTable("tertulia", dynamodb)
        stores.blobs = S3Blobs("tertulia", s3)
        yield {"stores": stores}


@pytest.fixture
def cloud(
    make_assistant: MakeAssistant,
    settings: Settings,
    cloud_parts: dict[str, Any],
    s3: "S3Client",
    fresh_logger: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Cloud]:
    """Return functions in one execution environment."""
    deployed = settings.model_copy(update={"profile": "aws"})
    assistant = make_assistant(deployed, **cloud_parts)
    environment = execution.Environment(assistant)
    monkeypatch.setattr(execution, "environment", lambda: environment)
    with ThreadPoolExecutor(1) as process:
        yield Cloud(assistant, environment, s3, process)
        process.submit(environment.close).result()
