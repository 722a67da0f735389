"""What a turn costs in request units of the table, as `docs/data.md` says."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tertulia.adapters.aws.dynamodb import DynamoTable
from tertulia.adapters.aws.stores import AwsStores
from tertulia.assistant import Assistant
from tertulia.domain.turns import Conversation, Turn
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedModel
from tests.turns import done_of, request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

READS = ("GetItem", "Query")
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")
QUESTION = "More about it, please, with all the details that you know, and the weather in Lisbon"


class NoFollowUp:
    """What follows a turn has a bill of its own."""

    async def start(self, conversation: Conversation, turn: Turn) -> None:
        """Do nothing."""


@pytest.fixture
def units(strict_dynamodb: "DynamoDBClient") -> Iterator[Counter[str]]:
    """Return the request units used so far."""
    used, events = Counter[str](), strict_dynamodb.meta.events

    def ask(params: dict[str, Any], **_: object) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def note(parsed: dict[str, Any], model: Any, **_: object) -> None:
        told = parsed.get("ConsumedCapacity") or []
        for each in told if isinstance(told, list) else [told]:
            used["read" if model.name in READS else "write"] += each["CapacityUnits"]

    for operation in (*READS, *WRITES):
        events.register(f"provide-client-params.dynamodb.{operation}", ask)
        events.register(f"after-call.dynamodb.{operation}", note)
    yield used
    for operation in (*READS, *WRITES):
        events.unregister(f"provide-client-params.dynamodb.{operation}", ask)
        events.unregister(f"after-call.dynamodb.{operation}", note)


@pytest.fixture
def assistant(
    make_assistant: MakeAssistant, settings: Settings, strict_table: DynamoTable, clock: FakeClock
) -> Assistant:
    stores = AwsStores("tertulia", "tertulia", clock)
    stores.table = strict_table
    limits = {"profile": "aws", "daily_spend_usd": 10.0, "user_daily_spend_usd": 1.0}
    model = ScriptedModel([["word "] * 150])
    deployed = settings.model_copy(update=limits)
    return make_assistant(deployed, stores=stores, chat_model=model, clock=clock, follow_up=NoFollowUp())


async def test_a_turn_with_all_its_limits_costs_what_the_page_says(assistant: Assistant, units: Counter[str]) -> None:
    first = await done_of(assistant, request(QUESTION))
    for _ in range(9):
        await done_of(assistant, request(QUESTION, conversation_id=first.conversation_id))
    await assistant.turns.close()
    units.clear()
    await done_of(assistant, request(QUESTION, conversation_id=first.conversation_id, client_message_id="k"))
    await assistant.turns.close()
    assert 10 <= units["read"] <= 16
    assert 15 <= units["write"] <= 28
