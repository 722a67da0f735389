"""A throttled table: tried again, then told as unavailable, and nothing is lost or doubled."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError

from tertulia.adapters.aws.dynamodb import ATTEMPTS, DynamoTable, Key
from tertulia.adapters.aws.stores import AwsStores
from tertulia.assistant import Assistant
from tertulia.domain.errors import Unavailable
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import client_of, is_problem

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

THROTTLED = b'{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"Rate"}'


class Whole:
    """The body of a response, as botocore reads it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield THROTTLED


class Throttle:
    """Answers the next requests to some operations in the place of the table, as AWS does when it is busy."""

    def __init__(self) -> None:
        self.left = 0
        self.operations: frozenset[str] = frozenset()
        self.refused = 0

    def close(self, times: int, *operations: str) -> None:
        """Refuse so many requests, of these operations or of all."""
        self.left, self.operations = times, frozenset(operations)

    def __call__(self, request: Any, **_: object) -> AWSResponse | None:
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        if self.left <= 0 or (self.operations and operation not in self.operations):
            return None
        self.left -= 1
        self.refused += 1
        headers: Any = {"Content-Type": "application/x-amz-json-1.0"}
        return AWSResponse(request.url, 400, headers, Whole())


@pytest.fixture
def throttle(strict_dynamodb: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> Iterator[Throttle]:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    throttle = Throttle()
    events: Any = strict_dynamodb.meta.events
    events.register("before-send.dynamodb", throttle)
    yield throttle
    events.unregister("before-send.dynamodb", throttle)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def assistant(
    make_assistant: MakeAssistant, strict_table: DynamoTable, model: ScriptedModel, clock: FakeClock
) -> Assistant:
    stores = AwsStores("tertulia", "tertulia", clock)
    stores.table = strict_table
    return make_assistant(stores=stores, chat_model=model, clock=clock)


async def chat(client: httpx.AsyncClient, key: str) -> httpx.Response:
    return await client.post("/api/chat", json={"text": "Hello", "client_message_id": key})


async def test_a_throttled_call_is_tried_again_and_then_told(throttle: Throttle, strict_table: DynamoTable) -> None:
    throttle.close(ATTEMPTS - 1)
    assert await strict_table.get(Key("p", "s")) is None
    assert throttle.refused == ATTEMPTS - 1
    throttle.close(ATTEMPTS)
    with pytest.raises(Unavailable) as told:
        await strict_table.get(Key("p", "s"))
    assert isinstance(told.value.__cause__, ClientError)
    assert throttle.left == 0


async def test_a_turn_over_a_table_that_is_busy_for_a_moment_is_stored_once(
    assistant: Assistant, throttle: Throttle
) -> None:
    throttle.close(ATTEMPTS - 1)
    async with client_of(assistant) as client:
        done = await chat(client, "k")
        throttle.close(ATTEMPTS - 1)
        again = await chat(client, "k")
    assert (done.status_code, again.json()["turn_id"]) == (200, done.json()["turn_id"])
    assert (await assistant.conversations.page("user-1")).total == 1
    assert throttle.refused == 2 * (ATTEMPTS - 1)


async def test_a_turn_over_a_closed_table_is_503_before_any_model_is_asked_and_works_when_it_is_sent_again(
    assistant: Assistant, throttle: Throttle, model: ScriptedModel
) -> None:
    async with client_of(assistant) as client:
        throttle.close(1000)
        refused = await chat(client, "k")
        assert is_problem(refused, 503, "unavailable")
        assert int(refused.headers["retry-after"]) >= 1
        assert model.prompts == []
        throttle.close(0)
        assert (await chat(client, "k")).json()["response"] == "Hello there."
    assert (await assistant.conversations.page("user-1")).total == 1


async def test_a_turn_that_cannot_be_stored_is_told_and_its_key_serves_again(
    assistant: Assistant, throttle: Throttle, model: ScriptedModel
) -> None:
    def write(_: object) -> list[str]:
        throttle.close(10_000, "PutItem")
        return ["Never", " stored."]

    model.scripts = [write, ["Stored."]]
    async with client_of(assistant) as client:
        assert is_problem(await chat(client, "k"), 503, "unavailable")
        await assistant.turns.close()
        throttle.close(0)
        answered = await chat(client, "k")
    assert answered.json()["response"] == "Stored."
    [kept] = (await assistant.conversations.page("user-1")).items
    assert [turn.answer for turn in await assistant.conversations.turns(kept)] == ["Stored."]


async def test_a_key_that_could_not_even_be_given_back_serves_again_once_its_turn_must_be_over(
    assistant: Assistant, throttle: Throttle, model: ScriptedModel, clock: FakeClock
) -> None:
    def write(_: object) -> list[str]:
        throttle.close(10_000)
        return ["Never", " stored."]

    model.scripts = [write, ["Stored."]]
    async with client_of(assistant) as client:
        assert is_problem(await chat(client, "k"), 503, "unavailable")
        await assistant.turns.close()
        throttle.close(0)
        assert is_problem(await chat(client, "k"), 409, "in_progress")
        clock.move(seconds=assistant.settings.turn_seconds + 30)
        answered = await chat(client, "k")
    assert answered.json()["response"] == "Stored."
    assert (await assistant.conversations.page("user-1")).total == 1
