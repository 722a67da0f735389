"""Clients see what conversations were about, and deleting one deletes that too."""

import json

import httpx

from tertulia.assistant import Assistant
from tests.conftest import MakeAssistant
from tests.fakes.embedder import WordEmbedder
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import client_of

LIST = "/api/chat/conversations"
ITEMS = ["Call Ana", {"text": "Buy tickets", "due": "before it rains"}]
SUMMARY = json.dumps({"title": "Train to Porto", "overview": "They plan a trip.", "action_items": ITEMS})


async def summarized(client: httpx.AsyncClient, assistant: Assistant) -> str:
    answer = (await client.post("/api/chat", json={"text": "I call Ana and buy tickets to Porto"})).json()
    turns = await assistant.conversations.find_turn("user-1", answer["turn_id"])
    assert turns
    await assistant.summarize("user-1", turns[0].id, answer["turn_id"])
    await assistant.index_summary("user-1", turns[0].id)
    return turns[0].id


async def test_lists_and_conversations_show_their_summary(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(chat_model=ScriptedModel([("Good.",), (SUMMARY,)]), embedder=WordEmbedder())
    async with client_of(assistant) as client:
        conversation_id = await summarized(client, assistant)
        [listed] = (await client.get(LIST)).json()["conversations"]
        kept = (await client.get(f"{LIST}/{conversation_id}")).json()
    assert (listed["title"], listed["overview"]) == ("Train to Porto", "They plan a trip.")
    assert (kept["title"], kept["overview"]) == ("Train to Porto", "They plan a trip.")
    assert [(item["text"], item.get("due"), item["done"]) for item in kept["action_items"]] == [
        ("Call Ana", None, False),
        ("Buy tickets", "before it rains", False),
    ]


async def test_a_deleted_conversation_takes_its_summary_and_jobs_along(make_assistant: MakeAssistant) -> None:
    for whole in (False, True):
        model = ScriptedModel([("Good.",), (SUMMARY,)])
        assistant = make_assistant(chat_model=model, embedder=WordEmbedder())
        async with client_of(assistant) as client:
            conversation_id = await summarized(client, assistant)
            await client.delete(LIST if whole else f"{LIST}/{conversation_id}")
        for table in ("summary_entries", "follow_up_jobs", "turn_runs"):
            assert await assistant.database.rows(f"SELECT * FROM {table}") == []  # noqa: S608
