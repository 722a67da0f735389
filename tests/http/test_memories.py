"""Users see, write, correct and delete what is remembered of them, and see what an answer used."""

import json
from collections.abc import AsyncIterator
from typing import Any, get_args

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.domain.memories import CATEGORIES
from tertulia.entrypoints.http.routers.memories import Category
from tests.conftest import MakeAssistant
from tests.fakes.embedder import WordEmbedder
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import ANA, BEN, TWO_USERS, client_of
from tests.http.event_reader import EventReader

MEMORIES = "/api/memories"


@pytest.fixture
def assistant(make_assistant: MakeAssistant) -> Assistant:
    made = make_assistant(embedder=WordEmbedder(), chat_model=ScriptedModel([("Good.",)]))
    del made.__dict__["memories"]
    return made


@pytest.fixture
async def client(assistant: Assistant) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(assistant) as client:
        yield client


async def added(client: httpx.AsyncClient, content: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post(MEMORIES, json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def listed(client: httpx.AsyncClient, **which: Any) -> list[str]:
    return [item["content"] for item in (await client.get(MEMORIES, params=which)).json()["items"]]


async def test_what_is_written_is_listed_with_everything_known_of_it(client: httpx.AsyncClient) -> None:
    made = await added(client, "  I'm allergic\n to peanuts ", category="fact", importance=0.9, device_id="kitchen")
    assert 0 < made["id"] < 2**53
    assert made["content"] == "I'm allergic to peanuts"
    assert (made["memory_type"], made["source_type"], made["importance"]) == ("long_term", "user", 0.9)
    assert (made["valid_to"], made["expires_at"], made["access_count"]) == (None, None, 0)
    page = (await client.get(MEMORIES)).json()
    assert (page["total"], page["page"], page["page_size"], page["cursor"]) == (1, 1, 50, None)
    assert page["items"] == [made]
    assert (await client.get(f"{MEMORIES}/{made['id']}")).json() == made


async def test_lists_are_filtered_and_paged(client: httpx.AsyncClient) -> None:
    for place in range(3):
        await added(client, f"plan {place}", category="schedule", memory_type="short_term", device_id="d")
    await added(client, "I like tea", category="preference")
    assert await listed(client, category="preference") == ["I like tea"]
    assert await listed(client, memory_type="short_term", device_id="d") == ["plan 2", "plan 1", "plan 0"]
    assert await listed(client, memory_type="", device_id="other") == []
    assert await listed(client, page=2, page_size=2) == ["plan 1", "plan 0"]
    assert await listed(client, page=3, page_size=2) == []
    first = (await client.get(MEMORIES, params={"page_size": 3})).json()
    assert await listed(client, cursor=first["cursor"]) == ["plan 0"]
    assert (await client.get(f"{MEMORIES}/stats")).json() == {
        "total": 4,
        "short_term": 3,
        "long_term": 1,
        "categories": {"preference": 1, "schedule": 3},
    }


async def test_a_preference_takes_the_place_of_the_one_of_its_key(client: httpx.AsyncClient) -> None:
    for content in ("I take my coffee black", "I take my coffee with milk"):
        answer = await client.put(MEMORIES, json={"key": "coffee", "content": content})
        assert (answer.status_code, answer.json()["category"]) == (200, "preference")
    new, old = (await client.get(MEMORIES)).json()["items"]
    assert (new["key"], new["valid_to"]) == ("coffee", None)
    assert old["valid_to"] == new["valid_from"]


async def test_a_correction_changes_what_it_names(client: httpx.AsyncClient) -> None:
    made = await added(client, "I like tea", category="preference")
    answer = await client.patch(f"{MEMORIES}/{made['id']}", json={"content": "I like green tea"})
    assert answer.status_code == 200
    assert answer.json()["content"] == "I like green tea"
    assert answer.json()["category"] == "preference"
    short = (await client.patch(f"{MEMORIES}/{made['id']}", json={"memory_type": "short_term"})).json()
    assert short["expires_at"] is not None
    long = (await client.patch(f"{MEMORIES}/{made['id']}", json={"memory_type": "long_term"})).json()
    assert long["expires_at"] is None


async def test_two_memories_never_say_the_same(client: httpx.AsyncClient) -> None:
    tea = await added(client, "I like tea")
    milk = await added(client, "I like milk")
    assert (await added(client, "i like TEA"))["id"] == tea["id"]
    answer = await client.patch(f"{MEMORIES}/{milk['id']}", json={"content": "I like tea"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_what_is_deleted_is_gone(client: httpx.AsyncClient) -> None:
    made = await added(client, "I like tea")
    assert (await client.delete(f"{MEMORIES}/{made['id']}")).status_code == 204
    assert await listed(client) == []
    for method in ("GET", "DELETE", "PATCH"):
        answer = await client.request(method, f"{MEMORIES}/{made['id']}", json={} if method == "PATCH" else None)
        assert answer.status_code == 404


@pytest.mark.parametrize("memory_id", ["0", "-1", "abc", "1e5", "99999999999999999999"])
async def test_a_malformed_id_is_not_found(client: httpx.AsyncClient, memory_id: str) -> None:
    assert (await client.delete(f"{MEMORIES}/{memory_id}")).status_code == 404


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"content": " "}, 400),
        ({}, 400),
        ({"content": "x" * 2_001}, 413),
        ({"content": "a\x00b"}, 422),
        ({"content": "tea", "category": "junk"}, 422),
        ({"content": "tea", "importance": 1.5}, 422),
        ({"content": "tea", "memory_type": "eternal"}, 422),
    ],
)
async def test_what_cannot_be_remembered_is_told_so(
    client: httpx.AsyncClient, fields: dict[str, Any], status: int
) -> None:
    assert (await client.post(MEMORIES, json=fields)).status_code == status


async def test_nobody_reaches_another_users_memories(assistant: Assistant) -> None:
    async with client_of(assistant, TWO_USERS) as shared:
        made = (await shared.post(MEMORIES, json={"content": "I like tea"}, headers=ANA)).json()
        assert (await shared.get(MEMORIES, headers=BEN)).json()["total"] == 0
        for method in ("GET", "DELETE"):
            answer = await shared.request(method, f"{MEMORIES}/{made['id']}", headers=BEN)
            assert answer.status_code == 404
        assert (await shared.get(MEMORIES, headers=ANA)).json()["total"] == 1
        assert (await shared.get(MEMORIES)).status_code == 401


async def test_an_answer_names_the_memories_it_used_and_only_what_is_true(
    client: httpx.AsyncClient, assistant: Assistant
) -> None:
    for content in ("I live in Porto", "I live in Berlin"):
        await client.put(MEMORIES, json={"key": "home", "content": content})
    berlin, _ = (await client.get(MEMORIES)).json()["items"]
    answer = await client.post("/api/chat/stream", json={"text": "where do I live in ?"})
    reader = EventReader()
    reader.feed(answer.content)
    told = {event.name: event.json for event in reader.events}
    assert told["memory"] == {"ids": [str(berlin["id"])]}
    model = assistant.chat_model
    assert isinstance(model, ScriptedModel)
    data, words = model.prompts[-1].messages[-1].parts
    assert words == "where do I live in ?"
    assert "I live in Berlin (created " in data
    assert "Porto" not in data
    assert (await client.get(f"{MEMORIES}/{told['memory']['ids'][0]}")).json()["content"] == "I live in Berlin"


async def test_recalled_memories_are_never_learned_again(client: httpx.AsyncClient, assistant: Assistant) -> None:
    await added(client, "I like tea")
    model = ScriptedModel(
        [
            ("You like tea.",),
            (json.dumps({"facts": [{"words": "I like tea", "topic": "preference", "passing": False}]}),),
        ]
    )
    assistant.__dict__["chat_model"] = model
    for _ in range(2):
        answer = (await client.post("/api/chat", json={"text": "plan my day, I like what?"})).json()
        await assistant.remember("user-1", answer["turn_id"])
        found = await assistant.conversations.find_turn("user-1", answer["turn_id"])
        assert found
        assert found[1].text == "plan my day, I like what?"
    assert await listed(client) == ["I like tea"]


def test_the_document_names_every_category() -> None:
    assert get_args(Category) == CATEGORIES
