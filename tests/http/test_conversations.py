"""Conversations over HTTP: listed, read, deleted, and nobody else's."""

import json
from typing import Any

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.domain.errors import NotFound
from tertulia.domain.prompts import ToolCall
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.http.routers import conversations
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import ANA, BEN, client_of, client_of_app, is_problem

LIST = "/api/chat/conversations"


async def told(client: httpx.AsyncClient, text: str = "Hello", **fields: Any) -> str:
    """Take a turn and return its conversation."""
    response = await client.post("/api/chat", json={"text": text} | fields)
    return str(response.json()["conversation_id"])


async def test_conversations_are_listed_last_changed_first(client: httpx.AsyncClient) -> None:
    first, second = await told(client, "The first"), await told(client, "The second " + "x" * 200)
    await told(client, "And again", conversation_id=first)

    listed = (await client.get(LIST)).json()["conversations"]

    assert [conversation["id"] for conversation in listed] == [first, second]
    assert set(listed[0]) == {
        "id", "title", "overview", "device_id", "created_at", "updated_at", "message_count", "last_message",
    }  # fmt: skip
    assert listed[0]["title"] == "The first"
    assert listed[0]["last_message"] == "And again"
    assert listed[0]["message_count"] == 4
    assert len(listed[1]["last_message"]) == 100


async def test_the_list_comes_in_pages_by_number_and_by_cursor(client: httpx.AsyncClient) -> None:
    made = [await told(client, f"Number {number}") for number in range(5)]

    pages = [(await client.get(LIST, params={"page": page, "page_size": 2})).json() for page in (1, 2, 3, 4)]
    by_number = [conversation["id"] for page in pages for conversation in page["conversations"]]
    by_cursor: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        part = (await client.get(LIST, params={"page_size": 2, "cursor": cursor})).json()
        by_cursor += [conversation["id"] for conversation in part["conversations"]]
        cursor = part["cursor"]

    assert by_number == by_cursor == made[::-1]
    assert pages[3]["conversations"] == []


async def test_the_list_of_one_device_holds_its_own(client: httpx.AsyncClient) -> None:
    own = await told(client, device_id="phone")
    await told(client, device_id="clip")

    listed = (await client.get(LIST, params={"device_id": "phone"})).json()["conversations"]

    assert [(conversation["id"], conversation["device_id"]) for conversation in listed] == [(own, "phone")]
    assert len((await client.get(LIST, params={"device_id": ""})).json()["conversations"]) == 2


@pytest.mark.parametrize(
    "wrong",
    [{"page": 0}, {"page": "x"}, {"page_size": 101}, {"page_size": -1}, {"page": 10**30}, {"cursor": "odd"}, {"device_id": "a\n"}],
)  # fmt: skip
async def test_a_list_cannot_be_asked_for_oddly(client: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    assert is_problem(await client.get(LIST, params=wrong), 422, "invalid_value")


async def test_a_conversation_is_read_with_its_messages(make_assistant: MakeAssistant) -> None:
    call = ToolCall(id="call_1", name="calculator", arguments='{"expression": "6*7"}')
    model = ScriptedModel([[call], ["It is 42."]])
    async with client_of(make_assistant(chat_model=model)) as client:
        body = (await client.post("/api/chat/send", json={"message": "What is 6*7?"})).json()
        kept = (await client.get(f"{LIST}/{body['conversation_id']}")).json()

    asked, tool, answer = kept["messages"]
    assert {"id", "title", "overview", "created_at", "updated_at", "action_items", "messages"} <= set(kept)
    assert [message["role"] for message in kept["messages"]] == ["user", "tool", "assistant"]
    assert asked["id"] < tool["id"] < answer["id"] < 2**53
    assert set(asked) == {"id", "role", "content", "created_at", "turn_id"}
    assert tool["tool_name"] == "calculator"
    result = json.loads(tool["content"])
    assert result["tool"] == "calculator"
    assert {"title", "summary", "snippet"} <= set(result["results"][0])
    assert "42" in result["results"][0]["snippet"]
    [made] = json.loads(answer["tool_calls"])
    assert made["function"] == {"name": "calculator", "arguments": '{"expression": "6*7"}'}
    assert answer["content"] == "It is 42."
    assert answer["route"] == "context"
    assert answer["receipt"]["tools_used"] == ["calculator"]
    assert "interrupted" not in answer


async def test_only_newer_messages_are_sent_where_that_is_asked_for(client: httpx.AsyncClient) -> None:
    conversation = await told(client, "One")
    await told(client, "Two", conversation_id=conversation)
    path = f"{LIST}/{conversation}/messages"
    whole = (await client.get(path)).json()["messages"]

    newer = [(await client.get(path, params={"after_id": message["id"]})).json()["messages"] for message in whole]

    assert [len(messages) for messages in newer] == [3, 2, 1, 0]
    assert newer[0] == whole[1:]
    assert (await client.get(path, params={"after_id": 0})).json()["messages"] == whole


@pytest.mark.parametrize("odd", ["abc", "1.5", "-2", "9" * 40])
async def test_an_odd_after_id_is_refused(client: httpx.AsyncClient, odd: str) -> None:
    """Case Z1; an unknown number is a place like any other, and an empty one is absent."""
    path = f"{LIST}/{await told(client)}/messages"

    assert is_problem(await client.get(path, params={"after_id": odd}), 422, "invalid_value")
    assert (await client.get(path, params={"after_id": 2**53})).json()["messages"] == []
    assert len((await client.get(path, params={"after_id": ""})).json()["messages"]) == 2


@pytest.mark.parametrize(
    "odd", ["abc123%0A", "ABC", "a" * 65, "a%2F..%2Fb", "%EF%BD%81", "%00", "%ED%A0%80", "a" * 300]
)
async def test_an_odd_id_in_a_path_is_not_found(client: httpx.AsyncClient, odd: str) -> None:
    """Case Z1."""
    for method, end in (("GET", ""), ("GET", "/messages"), ("DELETE", "")):
        assert is_problem(await client.request(method, f"{LIST}/{odd}{end}"), 404, "not_found")


async def test_a_uuid_is_read_as_its_digits(client: httpx.AsyncClient) -> None:
    response = await client.get(f"{LIST}/123E4567-E89B-12D3-A456-426614174000")

    assert is_problem(response, 404, "not_found")


async def test_a_conversation_is_deleted_with_its_files(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    async with client_of(assistant) as client:
        body = (await client.post("/api/chat/send-with-file", files={"file": ("a.txt", b"words")})).json()
        other = await told(client)
        kept = await assistant.conversations.get("user-1", body["conversation_id"])
        [turn] = await assistant.conversations.turns(kept)
        deleted = await client.delete(f"{LIST}/{body['conversation_id']}")
        listed = (await client.get(LIST)).json()["conversations"]
        again = await client.delete(f"{LIST}/{body['conversation_id']}")

    assert deleted.status_code == 204
    assert deleted.content == b""
    assert [conversation["id"] for conversation in listed] == [other]
    assert is_problem(again, 404, "not_found")
    assert not await _has_file(assistant, turn.attachments[0].key)


async def _has_file(assistant: Assistant, key: str) -> bool:
    try:
        await assistant.blobs.get("user-1", key)
    except NotFound:
        return False
    return True


async def test_all_conversations_of_one_user_are_deleted(shared: httpx.AsyncClient) -> None:
    shared.headers.update(BEN)
    kept = await told(shared)
    shared.headers.update(ANA)
    for number in range(3):
        await told(shared, f"Number {number}")

    assert (await shared.delete(LIST)).status_code == 204

    assert (await shared.get(LIST)).json()["conversations"] == []
    shared.headers.update(BEN)
    assert [conversation["id"] for conversation in (await shared.get(LIST)).json()["conversations"]] == [kept]


async def test_another_users_conversation_is_as_unknown_as_any_other(shared: httpx.AsyncClient) -> None:
    """Case J6."""
    shared.headers.update(ANA)
    own, unknown = await told(shared, "A secret"), "abc123"
    shared.headers.update(BEN)

    for method, end in (("GET", ""), ("GET", "/messages"), ("DELETE", "")):
        answers = [await shared.request(method, f"{LIST}/{id}{end}") for id in (own, unknown)]
        _look_the_same(*answers)
    for path, field in (("/api/chat", "text"), ("/api/chat/stream", "text"), ("/api/chat/send", "message")):
        answers = [await shared.post(path, json={field: "Hello", "conversation_id": id}) for id in (own, unknown)]
        _look_the_same(*answers)
    answers = [await shared.post("/api/tools/calculator", json={"conversation_id": id}) for id in (own, unknown)]
    _look_the_same(*answers)

    shared.headers.update(ANA)
    assert len((await shared.get(f"{LIST}/{own}")).json()["messages"]) == 2


def _look_the_same(foreign: httpx.Response, unknown: httpx.Response) -> None:
    assert is_problem(foreign, 404, "not_found")
    bodies = [{**response.json(), "request_id": ""} for response in (foreign, unknown)]
    assert bodies[0] == bodies[1]


async def test_a_router_serves_alone(make_assistant: MakeAssistant) -> None:
    app = create_app(make_assistant(), routers=[conversations.router])
    async with client_of_app(app) as client:
        assert (await client.get(LIST)).json() == {"conversations": [], "cursor": None}
        assert is_problem(await client.post("/api/chat", json={"text": "Hello"}), 404, "not_found")
