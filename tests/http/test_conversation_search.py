"""/api/chat/search, and what a person changes about a conversation."""

import json
from typing import Any

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.ports.follow_up import JobKind
from tests.conftest import MakeAssistant
from tests.fakes.embedder import WordEmbedder
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import client_of
from tests.http.test_summaries import LIST, SUMMARY, summarized

SEARCH = "/api/chat/search"


@pytest.fixture
def assistant(make_assistant: MakeAssistant) -> Assistant:
    return make_assistant(chat_model=ScriptedModel([("Good.",), (SUMMARY,)]), embedder=WordEmbedder())


async def found(client: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    answer = await client.get(SEARCH, params=asked)
    assert answer.status_code == 200, answer.text
    matches: list[dict[str, Any]] = answer.json()["matches"]
    return matches


async def test_a_conversation_is_found_by_what_it_was_about(assistant: Assistant) -> None:
    async with client_of(assistant) as client:
        conversation_id = await summarized(client, assistant)
        [match] = await found(client, q="train to Porto")
        nothing = [await found(client, q=query) for query in ("quantum physics", "", "!!!")]
    assert match.keys() == {"conversation_id", "title", "overview", "score", "created_at"}
    assert (match["conversation_id"], match["title"]) == (conversation_id, "Train to Porto")
    assert 0 < match["score"] <= 1
    assert nothing == [[], [], []]


@pytest.mark.parametrize("query", ["@porto", "50%", "C++", "it's", "a-b", "summary:hello", '"', "(", "*", "\x00"])
async def test_no_question_is_an_error(assistant: Assistant, query: str) -> None:
    async with client_of(assistant) as client:
        await summarized(client, assistant)
        await found(client, q=query)


@pytest.mark.parametrize("asked", [{}, {"q": "a", "limit": 0}, {"q": "a", "limit": 51}, {"q": "x" * 4_001}])
async def test_a_question_has_words_and_a_limit_in_bounds(assistant: Assistant, asked: dict[str, Any]) -> None:
    async with client_of(assistant) as client:
        assert (await client.get(SEARCH, params=asked)).status_code in {400, 422}


async def test_a_title_given_by_a_person_stays_and_is_found(make_assistant: MakeAssistant) -> None:
    other = json.dumps({"title": "Another title", "overview": "More.", "action_items": []})
    model = ScriptedModel([("Good.",), (SUMMARY,), ("Fine.",), (other,)])
    assistant = make_assistant(chat_model=model, embedder=WordEmbedder())
    async with client_of(assistant) as client:
        conversation_id = await summarized(client, assistant)
        changed = await client.patch(f"{LIST}/{conversation_id}", json={"title": "  Portuguese   holidays "})
        assert (changed.status_code, changed.json()["title"]) == (200, "Portuguese holidays")
        assert [match["title"] for match in await found(client, q="holidays")] == ["Portuguese holidays"]
        asked = {"text": "More of it", "conversation_id": conversation_id}
        turn = (await client.post("/api/chat", json=asked)).json()["turn_id"]
        await assistant.summarize("user-1", conversation_id, turn)
        kept = (await client.get(f"{LIST}/{conversation_id}")).json()
    assert (kept["title"], kept["overview"]) == ("Portuguese holidays", "More.")


async def test_an_action_item_is_ticked_off_and_stays_ticked_after_the_next_summary(
    make_assistant: MakeAssistant,
) -> None:
    other = json.dumps({"title": "T", "overview": "More.", "action_items": ["Call Ana"]})
    model = ScriptedModel([("Good.",), (SUMMARY,), ("Fine.",), (other,)])
    assistant = make_assistant(chat_model=model, embedder=WordEmbedder())
    async with client_of(assistant) as client:
        conversation_id = await summarized(client, assistant)
        address = f"{LIST}/{conversation_id}"
        items = (await client.get(address)).json()["action_items"]
        ticked = {"action_items": [{"id": items[1]["id"], "done": True}]}
        assert [item["done"] for item in (await client.patch(address, json=ticked)).json()["action_items"]] == [
            False,
            True,
        ]
        asked = {"text": "I call Ana", "conversation_id": conversation_id}
        turn = (await client.post("/api/chat", json=asked)).json()["turn_id"]
        await assistant.summarize("user-1", conversation_id, turn)
        kept = (await client.get(address)).json()["action_items"]
        assert {item["text"]: item["done"] for item in kept} == {"Call Ana": False, "Buy tickets": True}
        back = {"action_items": [{"id": items[1]["id"], "done": False}]}
        assert not any(item["done"] for item in (await client.patch(address, json=back)).json()["action_items"])


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"title": "   "}, 422),
        ({"title": "x" * 81}, 422),
        ({"title": "a\u0000b"}, 422),
        ({"action_items": [{"id": "unknown", "done": True}]}, 404),
        ({"action_items": [{"id": "x"}]}, 400),
        ({}, 200),
        ({"title": None}, 200),
    ],
)
async def test_what_cannot_be_changed_changes_nothing(
    assistant: Assistant, changes: dict[str, Any], status: int
) -> None:
    async with client_of(assistant) as client:
        conversation_id = await summarized(client, assistant)
        assert (await client.patch(f"{LIST}/{conversation_id}", json=changes)).status_code == status
        kept = (await client.get(f"{LIST}/{conversation_id}")).json()
        assert (kept["title"], [item["done"] for item in kept["action_items"]]) == ("Train to Porto", [False, False])
        assert (await client.patch(f"{LIST}/ffff", json=changes)).status_code in {400, 404, 422}


async def test_a_summary_is_made_at_once_when_somebody_asks(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([("Good.",), ("Fine.",), (SUMMARY,)])
    assistant = make_assistant(chat_model=model, embedder=WordEmbedder())
    async with client_of(assistant) as client:
        asked: dict[str, str] = {"text": "I call Ana"}
        first = (await client.post("/api/chat", json=asked)).json()
        address = f"{LIST}/{first['conversation_id']}/summarize"
        too_short = await client.post(address)
        assert (too_short.status_code, too_short.json()["code"]) == (409, "conflict")
        asked["conversation_id"] = first["conversation_id"]
        second = (await client.post("/api/chat", json=asked)).json()
        for _ in range(2):
            assert (await client.post(address)).status_code == 202
        job = await assistant.jobs.take()
        while job is not None and job.kind is not JobKind.SUMMARY:
            await assistant.jobs.finish(job)
            job = await assistant.jobs.take()
        assert job is not None
        assert (job.turn_id, job.attempts) == (second["turn_id"], 0)
        assert (await client.post(f"{LIST}/ffff/summarize")).status_code == 404
