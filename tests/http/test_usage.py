"""What the user's turns have used and cost, over HTTP, and the limits that refuse a turn."""

from typing import Any

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.domain.prices import Price, PriceTable
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import ANA, BEN, TWO_USERS, client_of, is_problem, wav

HELLO = {"text": "Hello"}


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the scripted models cost something."""
    costs = {"scripted": Price(tokens_in=3_000_000, tokens_out=3_000_000), "scripted-ear": Price(audio_hour=3_600_000)}
    monkeypatch.setattr(Settings, "prices", property(lambda _: PriceTable(costs)))


async def used(client: httpx.AsyncClient, query: str = "") -> dict[str, Any]:
    answer = await client.get(f"/api/me/usage{query}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.usefixtures("priced")
async def test_turns_are_told_by_day_and_model_and_add_up_to_their_receipts(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    clock = FakeClock()
    assistant = make_assistant(settings, clock=clock)
    async with client_of(assistant) as client:
        first = (await client.post("/api/chat", json=HELLO)).json()["receipt"]
        clock.move(days=1)
        asked: Any = {"files": {"audio": ("a.wav", wav(), "audio/wav")}, "headers": {"Accept": "application/json"}}
        second = (await client.post("/api/voice", **asked)).json()["receipt"]
        await assistant.turns.close()
        told = await used(client)
        lately = await used(client, "?days=1")
    days = told["days"]
    assert [(day["day"], day["turns"], day["cost_microdollars"]) for day in days] == [
        ("2030-06-01", 1, first["cost_microdollars"]),
        ("2030-06-02", 1, second["cost_microdollars"]),
    ]
    assert days[0]["tokens"] == first["tokens"]
    assert days[1]["audio_seconds"] == pytest.approx(second["audio_seconds"])
    assert set(days[1]["models"]) == set(second["models"].values())
    assert told["total"]["turns"] == 2
    assert lately["days"] == days[1:]
    assert lately["today"] == {"spent_microdollars": second["cost_microdollars"], "limit_microdollars": None}
    assert first["cost_microdollars"] > 0


@pytest.mark.parametrize("query", ["?days=0", "?days=367", "?days=x"])
async def test_days_have_bounds(client: httpx.AsyncClient, query: str) -> None:
    assert is_problem(await client.get(f"/api/me/usage{query}"), 422, "invalid_value")


async def test_nobody_sees_what_another_user_used(assistant: Assistant) -> None:
    async with client_of(assistant, TWO_USERS) as client:
        await client.post("/api/chat", json=HELLO, headers=ANA)
        await assistant.turns.close()
        mine, theirs = [(await client.get("/api/me/usage", headers=who)).json() for who in (ANA, BEN)]
    assert (mine["total"]["turns"], theirs["total"]["turns"]) == (1, 0)


async def test_a_turn_too_many_is_429_before_any_model_is_asked_and_passes_when_it_says(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    model, clock = ScriptedModel(), FakeClock()
    limited = settings.model_copy(update={"turns_a_minute": 2})
    async with client_of(make_assistant(limited, chat_model=model, clock=clock), TWO_USERS) as client:
        for _ in range(2):
            assert (await client.post("/api/chat", json=HELLO, headers=ANA)).status_code == 200
        refused = await client.post("/api/chat/stream", json=HELLO, headers=ANA)
        assert is_problem(refused, 429, "rate_limited")
        assert int(refused.headers["retry-after"]) == 60
        assert len(model.prompts) == 2
        assert (await client.post("/api/chat", json=HELLO, headers=BEN)).status_code == 200
        for _ in range(3):
            assert (await client.get("/api/chat/conversations", headers=ANA)).status_code == 200
        clock.move(seconds=int(refused.headers["retry-after"]))
        assert (await client.post("/api/chat", json=HELLO, headers=ANA)).status_code == 200


async def test_screen_turns_have_a_rate_of_their_own(make_assistant: MakeAssistant, settings: Settings) -> None:
    limited = settings.model_copy(update={"generations_a_minute": 1})
    async with client_of(make_assistant(limited), TWO_USERS) as client:
        sent = [await client.post("/api/chat/send", json={"message": "Hi"}, headers=ANA) for _ in range(2)]
        spoken = await client.post("/api/chat", json=HELLO, headers=ANA)
    assert [answer.status_code for answer in (*sent, spoken)] == [200, 429, 200]


@pytest.mark.usefixtures("priced")
async def test_speech_and_hearing_without_a_turn_are_counted_and_limited_too(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    limited = settings.model_copy(update={"turns_a_minute": 4})
    events = {"Accept": "text/event-stream"}
    async with client_of(make_assistant(limited), TWO_USERS) as client:
        said = await client.post("/api/tts", json={"text": "Good morning"}, headers=ANA)
        streamed = await client.post("/api/tts", json={"text": "Good night"}, headers=ANA | events)
        routed = await client.post("/api/route", json={"text": "Hello"}, headers=ANA)
        heard = await client.post("/api/stt", files={"audio": ("a.wav", wav(), "audio/wav")}, headers=ANA)
        assert [answer.status_code for answer in (said, streamed, routed, heard)] == [200] * 4
        told = (await client.get("/api/me/usage", headers=ANA)).json()
        for path, body in (("tts", {"text": "Hi"}), ("route", {"text": "Hi"})):
            refused = await client.post(f"/api/{path}", json=body, headers=ANA)
            assert is_problem(refused, 429, "rate_limited")
        assert is_problem(await client.post("/api/tts", json={"text": "Hi"}, headers=ANA | events), 429, "rate_limited")
        assert (await client.post("/api/chat", json=HELLO, headers=ANA)).status_code == 200
    [day] = told["days"]
    assert (day["turns"], day["models"]["tone"]["characters"]) == (0, len("Good morning") + len("Good night"))
    assert day["cost_microdollars"] == day["models"]["scripted-ear"]["cost_microdollars"] > 0
