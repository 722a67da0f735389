"""A table, a bucket and the state machines in moto, and the handlers that run their tasks."""

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models import DynamoDBBackend

from tertulia.adapters.aws.dynamodb import DynamoTable, table_definition
from tests.fakes.clock import FakeClock
from tests.workflow.machine import EXECUTES, PLACE, Machine, deploy

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", PLACE["region_name"])
    # DynamoDB decides on a condition and writes in one step; moto's threads could all decide before the first one writes.
    deciding = threading.Lock()
    for name in ("put_item", "update_item", "delete_item"):
        monkeypatch.setattr(DynamoDBBackend, name, _one_at_a_time(getattr(DynamoDBBackend, name), deciding))
    with mock_aws(config=EXECUTES):
        yield


@pytest.fixture(scope="session")
def dynamodb() -> "DynamoDBClient":
    return boto3.client("dynamodb", **PLACE)


@pytest.fixture
def table(aws: None, dynamodb: "DynamoDBClient") -> DynamoTable:
    dynamodb.create_table(**table_definition("tertulia"))
    return DynamoTable("tertulia", dynamodb)


@pytest.fixture
def after_turn(aws: None) -> Machine:
    return deploy("after_turn")


def _one_at_a_time(write: Callable[..., Any], deciding: threading.Lock) -> Callable[..., Any]:
    def write_alone(*arguments: Any, **named: Any) -> Any:
        with deciding:
            return write(*arguments, **named)

    return write_alone
