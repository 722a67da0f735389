"""The traps of DynamoDB: pages, sizes, half-done batches, crashes between two writes, words of its own."""

from typing import Any, cast

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import PART_BYTES, DynamoTable, Key, Query, parts_of, table_definition
from tertulia.adapters.aws.dynamodb_conversations import DynamoConversations
from tertulia.adapters.aws.dynamodb_turn_claims import DynamoTurnClaims
from tertulia.domain.errors import NotConfigured, TertuliaError, Unavailable
from tertulia.ports import Claim
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import a_failed_turn, a_turn

NOBODY: Any = {"region_name": "eu-central-1", "aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
ALL = Query(pk="p", condition="begins_with(#sk, :any)", values={":any": "a"})


class PagedClient:
    """A client whose queries answer with pages set before."""

    def __init__(self, *pages: dict[str, Any]) -> None:
        self._pages = list(pages)
        self.starts: list[object] = []

    def query(self, **arguments: Any) -> dict[str, Any]:
        self.starts.append(arguments.get("ExclusiveStartKey"))
        page = self._pages.pop(0)
        return {"Count": len(page["Items"]), **page}


def items(*names: str) -> list[dict[str, Any]]:
    return [{"pk": {"S": "p"}, "sk": {"S": name}} for name in names]


def table_of(client: object) -> DynamoTable:
    return DynamoTable("tertulia", cast("Any", client))


@pytest.mark.parametrize("end", [{}, {"LastEvaluatedKey": {}}, {"LastEvaluatedKey": None}])
async def test_an_empty_page_with_a_next_key_is_not_the_end(end: dict[str, Any]) -> None:
    key = {"pk": {"S": "p"}, "sk": {"S": "x"}}
    pages = [{"Items": [], "LastEvaluatedKey": key}, {"Items": items("a", "b", "c", "d", "e"), **end}]
    client = PagedClient(*pages, *pages)
    assert [item["sk"] for item in await table_of(client).query(ALL)] == ["a", "b", "c", "d", "e"]
    assert await table_of(client).count(ALL) == 5
    assert client.starts == [None, key, None, key]


async def test_a_query_reads_no_page_beyond_what_is_asked_for() -> None:
    client = PagedClient({"Items": items("a", "b", "c"), "LastEvaluatedKey": {"pk": {"S": "p"}}})
    found = await table_of(client).query(Query(pk="p", condition=ALL.condition, values=ALL.values, most=2))
    assert [item["sk"] for item in found] == ["a", "b"]


class BusyClient:
    """A client that takes only a part of each batch."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self.deleted: list[str] = []

    def batch_write_item(self, RequestItems: dict[str, list[Any]]) -> dict[str, Any]:  # noqa: N803
        [(name, requests)] = RequestItems.items()
        assert len(requests) <= 25
        self.deleted += [each["DeleteRequest"]["Key"]["sk"]["S"] for each in requests[: self._at_once]]
        left = requests[self._at_once :]
        return {"UnprocessedItems": {name: left} if left else {}}


async def test_what_a_busy_table_hands_back_is_deleted_too() -> None:
    client = BusyClient(at_once=20)
    names = [f"a{place}" for place in range(60)]
    await table_of(client).delete_all([Key("p", name) for name in names])
    assert sorted(client.deleted) == sorted(names)


class FailingClient:
    """A client whose every call fails."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def get_item(self, **_: object) -> None:
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (ClientError({"Error": {"Code": "ProvisionedThroughputExceededException"}}, "GetItem"), Unavailable),
        (ClientError({"Error": {"Code": "InternalServerError"}}, "GetItem"), Unavailable),
        (ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetItem"), NotConfigured),
        (EndpointConnectionError(endpoint_url="https://secret.example"), Unavailable),
    ],
)
async def test_failures_of_the_vendor_are_plain_sentences(failure: Exception, kind: type[TertuliaError]) -> None:
    with pytest.raises(kind) as told:
        await table_of(FailingClient(failure)).get(Key("p", "s"))
    assert told.value.message == kind.default_message


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"])), copies=st.integers(1, 40_000))
def test_parts_join_to_the_document_and_each_fits_an_item(text: str, copies: int) -> None:
    document = text * copies
    parts = parts_of(document)
    assert "".join(parts) == document
    assert all(0 < len(part.encode()) <= PART_BYTES for part in parts)


class Stopped(Exception):
    """The process ended here."""


class FragileTable(DynamoTable):
    """A table whose process may end before a given write, and which knows how large its items are."""

    def __init__(self, client: Any) -> None:
        super().__init__("tertulia", client)
        self.writes_left = 1_000
        self.largest = 0

    async def put(self, item: dict[str, Any], *condition: Any) -> None:
        if self.writes_left == 0:
            raise Stopped
        self.writes_left -= 1
        copies = 2 if "listed" in item else 1
        size = sum(len(name) + len(str(value).encode()) for name, value in item.items())
        self.largest = max(self.largest, copies * size)
        await super().put(item, *condition)


@pytest.fixture(scope="module")
def client() -> Any:
    return boto3.client("dynamodb", **NOBODY)


@pytest.fixture
def table(client: Any) -> Any:
    with mock_aws():
        client.create_table(**table_definition("tertulia"))
        yield FragileTable(client)


@pytest.mark.parametrize("writes", [0, 1, 2])
async def test_an_append_cut_short_anywhere_is_made_whole_by_its_repetition(table: FragileTable, writes: int) -> None:
    store = DynamoConversations(table, FakeClock())
    opened = await store.open("me", None)
    turn = a_turn(answer="部" * 60_000)
    table.writes_left = writes
    with pytest.raises(Stopped):
        await store.append(opened, turn)
    table.writes_left = 1_000
    await store.append(opened, turn)
    assert await store.recent(opened, 5) == [turn]
    assert (await store.get("me", opened.id)).message_count == 2


async def test_no_item_with_its_copy_in_the_index_is_larger_than_400_kb(table: FragileTable) -> None:
    store = DynamoConversations(table, FakeClock())
    conversation = await store.open("me", None)
    for place, size in enumerate((40_000, 140_000, 400_000)):
        await store.append(conversation, a_turn(f"t{place}", place, text='"部\n' * size))
    assert 100_000 < table.largest < 400_000


async def test_parts_of_a_replaced_turn_do_not_stay(table: FragileTable) -> None:
    store = DynamoConversations(table, FakeClock())
    conversation = await store.open("me", None)
    await store.append(conversation, a_failed_turn(text="部" * 140_000))
    await store.append(conversation, a_turn(text="short"))
    rest = await table.query(Query(pk="USER#me", condition="begins_with(#sk, :turn)", values={":turn": "TURN#t1"}))
    assert [item["sk"] for item in rest] == ["TURN#t1"]
    await store.delete(conversation)
    assert await table.query(Query(pk="USER#me", condition="#sk > :any", values={":any": "A"})) == []


async def test_attributes_with_reserved_names_go_into_every_expression(table: FragileTable) -> None:
    reserved = ("status", "ttl", "name", "role", "timestamp", "state")
    values = {f":{name}": name for name in reserved}
    await table.put({"pk": "p", "sk": "a", "status": "new"})
    update = "SET " + ", ".join(f"#{name} = :{name}" for name in reserved)
    await table.change(Key("p", "a"), update, "#status <> :status", values)
    keep = " AND ".join(f"#{name} = :{name}" for name in reserved)
    [item] = await table.query(
        Query(pk="p", condition="begins_with(#sk, :sk)", values={":sk": "a", **values}, keep=keep)
    )
    assert {name: item[name] for name in reserved} == {name: name for name in reserved}
    with pytest.raises(ConditionFailed):
        await table.change(Key("p", "a"), update, "#status <> :status", values)


async def test_an_expired_claim_that_is_still_there_holds_nothing(table: FragileTable) -> None:
    clock = FakeClock()
    claims = DynamoTurnClaims(table, clock)
    old = await claims.claim(Claim(user="me", key="k", digest="d", turn_id="t1", claimed_at=clock.now()))
    clock.move(days=2)
    new = Claim(user="me", key="k", digest="d", turn_id="t2", claimed_at=clock.now())
    assert old.turn_id == "t1"
    assert await claims.claim(new) == new
