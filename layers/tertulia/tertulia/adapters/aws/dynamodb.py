"""The one DynamoDB table, as the stores in it use it; `docs/data.md` describes its keys."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import batched
from typing import TYPE_CHECKING, Any, NamedTuple

from tertulia.adapters.aws.calls import call
from tertulia.domain.errors import Unavailable

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import CreateTableInputTypeDef

LISTING = "listing"
"""The index over `listed`: a local one, because no other can be read without delay after a write."""

PART_BYTES = 150_000
"""An item may have 400 KB, and its copy in a local index counts too."""

ATTEMPTS = 4
"""How often a call is made, a throttled one too, with growing and random waits in between."""

_MOST_DELETED_AT_ONCE = 25
_MOST_ATTEMPTS = 8
_READ_AHEAD = 32
_PLACEHOLDER = re.compile(r"#(\w+)")

type Item = dict[str, Any]
"""Texts, whole numbers and truth values only: the SDK refuses floats, and its decimals are no JSON."""


class Key(NamedTuple):
    """Where an item is."""

    pk: str
    sk: str


@dataclass(frozen=True, kw_only=True)
class Query:
    """Items of one partition, in order. Names in expressions begin with `#`, since hundreds of words are reserved."""

    pk: str
    condition: str
    values: Mapping[str, Any] = field(default_factory=dict)
    keep: str = ""
    """A filter, which DynamoDB applies after cutting a page: a page may be empty and not be the last."""
    listing: bool = False
    newest_first: bool = False
    most: int | None = None


def table_definition(name: str) -> "CreateTableInputTypeDef":
    """Return the table as the deployment template declares it, to create it elsewhere."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
            {"AttributeName": "listed", "AttributeType": "S"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "LocalSecondaryIndexes": [
            {
                "IndexName": LISTING,
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "listed", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    }


def parts_of(document: str) -> list[str]:
    """Cut a document into parts that each fit an item, by bytes and never inside a character."""
    data = document.encode()
    parts: list[str] = []
    start = 0
    while start < len(data):
        end = min(start + PART_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # noqa: PLR2004
            end -= 1
        parts.append(data[start:end].decode())
        start = end
    return parts


class DynamoTable:
    """Reads and writes of items; every read sees what was written before it."""

    def __init__(self, name: str, client: "DynamoDBClient | None" = None) -> None:
        self._name = name
        self._given = client

    async def get(self, key: Key) -> Item | None:
        """Return an item, or None."""
        found = await call(
            self._client.get_item, TableName=self._name, Key=_written(key._asdict()), ConsistentRead=True
        )
        return _read(found["Item"]) if found.get("Item") else None

    async def put(self, item: Item, condition: str = "", values: Mapping[str, Any] | None = None) -> None:
        """Write an item; raises ConditionFailed."""
        await call(
            self._client.put_item,
            TableName=self._name,
            Item=_written(item),
            **_expressions({"Condition": condition}, values),
        )

    async def change(self, key: Key, update: str, condition: str, values: Mapping[str, Any]) -> None:
        """Change attributes of an item; raises ConditionFailed."""
        await call(
            self._client.update_item,
            TableName=self._name,
            Key=_written(key._asdict()),
            **_expressions({"Update": update, "Condition": condition}, values),
        )

    async def delete(self, key: Key, condition: str = "", values: Mapping[str, Any] | None = None) -> None:
        """Delete an item, if it is there; raises ConditionFailed."""
        await call(
            self._client.delete_item,
            TableName=self._name,
            Key=_written(key._asdict()),
            **_expressions({"Condition": condition}, values),
        )

    async def delete_all(self, keys: Sequence[Key]) -> None:
        """Delete many items."""
        for some in batched(keys, _MOST_DELETED_AT_ONCE, strict=False):
            await self._delete_some([{"DeleteRequest": {"Key": _written(key._asdict())}} for key in some])

    async def query(self, query: Query) -> list[Item]:
        """Return the items of a query."""
        pages = [page["Items"] async for page in self._pages(query)]
        return [_read(item) for items in pages for item in items][: query.most]

    async def each(self, query: Query) -> AsyncIterator[Item]:
        """Yield the items of a query, however many, page by page."""
        async for page in self._pages(query):
            for item in page["Items"]:
                yield _read(item)

    async def count(self, query: Query) -> int:
        """Count the items of a query."""
        return sum([page["Count"] async for page in self._pages(query, Select="COUNT")])

    async def _pages(self, query: Query, **arguments: Any) -> AsyncIterator[Any]:
        """Yield page after page, however many are empty, until there are items enough or there is no next page."""
        arguments |= _query_arguments(query)
        found = 0
        while query.most is None or found < query.most:
            page = await call(self._client.query, TableName=self._name, **arguments)
            found += page["Count"]
            yield page
            if not page.get("LastEvaluatedKey"):
                return
            arguments["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    async def _delete_some(self, requests: list[Any]) -> None:
        for attempt in range(_MOST_ATTEMPTS):
            done = await call(self._client.batch_write_item, RequestItems={self._name: requests})
            # A busy table takes a part of a batch and hands the rest back, without any failure.
            requests = (done.get("UnprocessedItems") or {}).get(self._name, [])
            if not requests:
                return
            await asyncio.sleep(0.02 * 2**attempt)
        raise Unavailable

    @cached_property
    def _client(self) -> "DynamoDBClient":
        import boto3

        return self._given or boto3.client("dynamodb", config=in_time())


def in_time() -> "Config":
    """Return how the SDK calls: by itself it would try for longer than a gateway waits."""
    from botocore.config import Config

    retries: Any = {"mode": "standard", "total_max_attempts": ATTEMPTS}
    return Config(retries=retries, connect_timeout=2, read_timeout=5)


def _query_arguments(query: Query) -> Item:
    arguments = _expressions(
        {"KeyCondition": f"#pk = :pk AND {query.condition}", "Filter": query.keep}, {":pk": query.pk, **query.values}
    )
    if query.listing:
        arguments["IndexName"] = LISTING
    if query.most is not None:
        arguments["Limit"] = query.most + (_READ_AHEAD if query.keep else 0)
    return arguments | {"ConsistentRead": True, "ScanIndexForward": not query.newest_first}


def _expressions(expressions: Mapping[str, str], values: Mapping[str, Any] | None) -> Item:
    used = {name: text for name, text in expressions.items() if text}
    if not used:
        return {}
    names = {name for text in used.values() for name in _PLACEHOLDER.findall(text)}
    arguments: Item = {f"{name}Expression": text for name, text in used.items()}
    arguments["ExpressionAttributeNames"] = {f"#{name}": name for name in sorted(names)}
    if values:
        arguments["ExpressionAttributeValues"] = _written(values)
    return arguments


def _written(item: Mapping[str, Any]) -> Item:
    from boto3.dynamodb.types import TypeSerializer

    serializer = TypeSerializer()
    return {name: serializer.serialize(value) for name, value in item.items() if value is not None}


def _read(item: Mapping[str, Any]) -> Item:
    from boto3.dynamodb.types import TypeDeserializer

    deserializer = TypeDeserializer()
    values = {name: deserializer.deserialize(value) for name, value in item.items()}
    return {name: int(value) if isinstance(value, Decimal) else value for name, value in values.items()}
