"""Scenarios over HTTP: listed by language, used by every kind of turn; skills are refused until there are any."""

import httpx
import pytest

from tertulia.domain.scenarios import scenarios
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import client_of, is_problem, wav

HELLO = {"text": "Hello"}


@pytest.mark.parametrize(
    ("query", "accept", "name"),
    [
        ("", "", "Learning"),
        ("?lang=pt-BR", "de", "Aprendizado"),
        ("?lang=pt", "", "Aprendizado"),
        ("", "de-AT, en;q=0.5", "Lernen"),
        ("?lang=it", "", "Learning"),
        ("?lang=", "fr", "Apprentissage"),
    ],
)
async def test_the_scenarios_are_listed_in_the_language_asked_for(
    client: httpx.AsyncClient, query: str, accept: str, name: str
) -> None:
    listed = (await client.get(f"/api/scenarios{query}", headers={"Accept-Language": accept})).json()["scenarios"]
    assert list(listed) == ["general", "learning"]
    assert listed["learning"].keys() == {"name", "description"}
    assert listed["learning"]["name"] == name


async def test_a_language_that_is_none_is_refused(client: httpx.AsyncClient) -> None:
    assert is_problem(await client.get("/api/scenarios?lang=../de"), 422, "invalid_value")


async def test_every_kind_of_turn_takes_a_scenario(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    async with client_of(make_assistant(chat_model=model)) as client:
        fields = {"scenario": "learning", "language": "en-US"}
        recording = {"audio": ("question.wav", wav())}
        answers = [
            await client.post("/api/chat", json=HELLO | fields),
            await client.post("/api/chat/stream", json=HELLO | fields),
            await client.post("/api/voice", data=fields, files=recording),
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    told = [prompt.messages[0].text for prompt in model.prompts]
    assert len(told) == 3
    assert all(scenarios("en-US")["learning"].prompt in text for text in told)


@pytest.mark.parametrize(
    ("field", "beginning"),
    [("scenario", "There is no such scenario. Known are: general"), ("skill_id", "There is no skill")],
)
async def test_an_unknown_scenario_or_skill_is_refused(client: httpx.AsyncClient, field: str, beginning: str) -> None:
    wish = {field: "opera"}
    refusals = [
        await client.post("/api/chat", json=HELLO | wish),
        await client.post("/api/chat/stream", json=HELLO | wish),
        await client.post("/api/voice", data=wish, files={"audio": ("question.wav", wav())}),
    ]
    if field == "skill_id":
        refusals.append(await client.post("/api/chat/send", json={"message": "Hello"} | wish))
    for refusal in refusals:
        assert is_problem(refusal, 422, "invalid_value")
        assert refusal.json()["detail"].startswith(beginning)
    assert (await client.get("/api/chat/conversations")).json()["conversations"] == []
