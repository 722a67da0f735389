"""What the stricter DynamoDB refuses, and the table over it: reserved words, large items, data that outlives a restart."""

from pathlib import Path
from typing import Any

import boto3
import pytest

from tertulia.adapters.aws.dynamodb import DynamoTable, Key, Query, parts_of, table_definition
from tests import dynalite
from tests.contract.conftest import NOBODY

RESERVED = ("status", "ttl", "name", "role", "timestamp", "state")


async def test_reserved_words_are_refused_bare_and_taken_as_the_table_writes_them(strict_table: DynamoTable) -> None:
    """Case D7."""
    values: dict[str, Any] = {f":{name}": name for name in RESERVED}
    update = "SET " + ", ".join(f"#{name} = :{name}" for name in RESERVED)
    await strict_table.change(Key("p", "a"), update, "", values)
    await strict_table.change(Key("p", "a"), "ADD #count :one", "#status = :status", {":one": 1, ":status": "status"})
    keep = " AND ".join(f"#{name} = :{name}" for name in RESERVED)
    [item] = await strict_table.query(
        Query(pk="p", condition="begins_with(#sk, :sk)", values={":sk": "a", **values}, keep=keep)
    )
    assert {name: item[name] for name in RESERVED} == {name: name for name in RESERVED}
    for name in RESERVED:
        with pytest.raises(ValueError) as refused:  # noqa: PT011  # the vendor's words are in its cause
            await strict_table.change(Key("p", "a"), f"SET {name} = :value, #any = :value", "", {":value": "x"})
        assert "reserved keyword" in str(refused.value.__cause__)


async def test_an_item_over_400_kb_is_refused_and_each_part_of_a_document_is_taken(strict_table: DynamoTable) -> None:
    """Case D1; dynalite counts characters where AWS counts bytes, so its limit is tried with ASCII."""
    document = "x" * 420_000
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        await strict_table.put({"pk": "p", "sk": "whole", "document": document})
    assert "Item size has exceeded" in str(refused.value.__cause__)
    parts = parts_of(document)
    for place, part in enumerate(parts):
        await strict_table.put({"pk": "p", "sk": f"part#{place}", "listed": f"L#{place}", "document": part})
    found = await strict_table.query(Query(pk="p", condition="begins_with(#sk, :sk)", values={":sk": "part#"}))
    assert "".join(item["document"] for item in found) == document


async def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    for place in range(2):
        with dynalite.running(tmp_path) as address:
            client = boto3.client("dynamodb", endpoint_url=address, **NOBODY)
            if place == 0:
                client.create_table(**table_definition("tertulia"))
                client.get_waiter("table_exists").wait(TableName="tertulia", WaiterConfig={"Delay": 1})
                await DynamoTable("tertulia", client).put({"pk": "p", "sk": "s", "count": 12})
            assert await DynamoTable("tertulia", client).get(Key("p", "s")) == {"pk": "p", "sk": "s", "count": 12}
