"""Every adapter of the store ports, under the same tests."""

import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models import DynamoDBBackend

from tertulia.adapters.aws.dynamodb import DynamoTable, in_time, table_definition
from tertulia.adapters.aws.s3 import S3Blobs
from tertulia.adapters.aws.stores import AwsStores
from tertulia.adapters.embedded.files import FileBlobs
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.stores import EmbeddedStores
from tertulia.ports import BlobStore
from tests import dynalite
from tests.fakes.clock import FakeClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

NOBODY: Any = {"region_name": "eu-central-1", "aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
_numbers = count(1)
_PLACEHOLDERS = re.compile(r"[#:]\w+")
_SYNTAX = {"SET", "REMOVE", "ADD", "AND", "OR", "BETWEEN", "begins_with", "attribute_exists", "attribute_not_exists"}


type Stores = EmbeddedStores | AwsStores
"""The stores of one place, which share their data."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "data" / "tertulia.db")
    yield database
    await database.close()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # DynamoDB decides on a condition and writes in one step; moto's threads could all decide before the first one writes.
    deciding = threading.Lock()
    for name in ("put_item", "update_item", "delete_item"):
        monkeypatch.setattr(DynamoDBBackend, name, _one_at_a_time(getattr(DynamoDBBackend, name), deciding))
    with mock_aws():
        yield


def _one_at_a_time(write: Callable[..., Any], deciding: threading.Lock) -> Callable[..., Any]:
    def write_alone(*arguments: Any, **named: Any) -> Any:
        with deciding:
            return write(*arguments, **named)

    return write_alone


@pytest.fixture(scope="session")
def dynamodb() -> "DynamoDBClient":
    """Return one client for all tests, since making one takes longer than a test; what it finds is each test's own."""
    client = boto3.client("dynamodb", **NOBODY)
    client.meta.events.register("provide-client-params.dynamodb", _refuse_bare_names)
    return client


@pytest.fixture(scope="session")
def s3() -> "S3Client":
    return boto3.client("s3", **NOBODY)


@pytest.fixture
def table(aws: None, dynamodb: "DynamoDBClient") -> DynamoTable:
    dynamodb.create_table(**table_definition("tertulia"))
    return DynamoTable("tertulia", dynamodb)


@pytest.fixture(scope="session")
def strict_dynamodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator["DynamoDBClient"]:
    with dynalite.running(tmp_path_factory.mktemp("dynalite")) as address:
        yield boto3.client("dynamodb", endpoint_url=address, config=in_time(), **NOBODY)


@pytest.fixture
def strict_table(strict_dynamodb: "DynamoDBClient") -> DynamoTable:
    name = f"tertulia-{next(_numbers)}"
    strict_dynamodb.create_table(**table_definition(name))
    while strict_dynamodb.describe_table(TableName=name)["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.005)
    return DynamoTable(name, strict_dynamodb)


@pytest.fixture(params=["sqlite", "moto", "dynalite"])
def stores(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Stores:
    if request.param == "sqlite":
        database: Database = request.getfixturevalue("database")
        return EmbeddedStores(database, tmp_path / "files", clock)
    found = AwsStores("tertulia", "tertulia", clock)
    found.table = request.getfixturevalue("table" if request.param == "moto" else "strict_table")
    return found


@pytest.fixture(params=["files", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    if request.param == "files":
        return FileBlobs(tmp_path / "files")
    request.getfixturevalue("aws")
    client: S3Client = request.getfixturevalue("s3")
    client.create_bucket(Bucket="tertulia-files", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    return S3Blobs("tertulia-files", client)


def _refuse_bare_names(params: dict[str, Any], **_: object) -> None:
    """Refuse any attribute name in an expression without its placeholder, as AWS refuses 573 reserved ones."""
    for name, expression in params.items():
        if name.endswith("Expression"):
            bare = set(re.findall(r"[A-Za-z_]\w*", _PLACEHOLDERS.sub(" ", expression))) - _SYNTAX
            assert not bare, f"{name} uses {bare} without a placeholder"
