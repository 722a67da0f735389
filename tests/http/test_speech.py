"""Texts spoken without a turn, and the route a text would take."""

import base64

import httpx
import pytest

from tertulia.domain.errors import ModelDown
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ToneVoice
from tests.http.clients import client_of, is_problem, seconds_of
from tests.http.event_reader import events_in

TEXT = "The first sentence is short. The second sentence is a little longer. The third one ends it."


async def test_a_text_is_spoken_as_one_file(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/tts", json={"text": TEXT})

    assert response.headers["content-type"] == "audio/wav"
    assert seconds_of(response.content) == pytest.approx(0.01 * len(TEXT), abs=0.2)


async def test_a_long_text_is_still_one_file(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/tts", json={"text": TEXT * 20})

    assert seconds_of(response.content) > 10


async def test_a_text_streams_sentence_by_sentence(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/tts", json={"text": TEXT}, headers={"Accept": "text/event-stream"})

    events = events_in(response.content)
    assert [event.name for event in events] == ["speech"] * 3 + ["done"]
    assert " ".join(event.json["text"] for event in events[:-1]) == TEXT
    assert all(seconds_of(base64.b64decode(event.json["audio"])) > 0 for event in events[:-1])


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_a_blank_text_cannot_be_spoken(client: httpx.AsyncClient, text: str) -> None:
    assert is_problem(await client.post("/api/tts", json={"text": text}), 400, "invalid_request")


async def test_a_text_over_the_limit_cannot_be_spoken(client: httpx.AsyncClient) -> None:
    assert is_problem(await client.post("/api/tts", json={"text": "a" * 10_001}), 413, "too_large")


@pytest.mark.parametrize("kind", ["mp3", "opus", "audio/mpeg"])
async def test_another_format_than_wav_is_refused_naming_what_there_is(client: httpx.AsyncClient, kind: str) -> None:
    """Case T2."""
    response = await client.post("/api/tts", json={"text": "Hello", "format": kind})

    assert is_problem(response, 415, "unsupported_media")
    assert "wav" in response.json()["detail"]
    assert (await client.post("/api/tts", json={"text": "Hello", "format": "wav"})).status_code == 200


@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
async def test_a_language_without_a_voice_is_refused_clearly(client: httpx.AsyncClient, accept: str) -> None:
    response = await client.post("/api/tts", json={"text": "Hallo", "language": "de"}, headers={"Accept": accept})

    assert is_problem(response, 422, "invalid_value")


@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
async def test_a_broken_voice_is_told_in_the_language_of_the_client(make_assistant: MakeAssistant, accept: str) -> None:
    async with client_of(make_assistant(synthesizer=ToneVoice(error=ModelDown()))) as client:
        headers = {"Accept": accept, "Accept-Language": "de-DE,de;q=0.9"}
        response = await client.post("/api/tts", json={"text": "Hello there"}, headers=headers)

    assert is_problem(response, 502, "model_down")
    assert not response.json()["detail"].startswith("The ")


async def test_a_route_is_told_without_a_turn(client: httpx.AsyncClient) -> None:
    body = (await client.post("/api/route", json={"text": "Hello there"})).json()

    assert set(body) == {"route", "reason"}
    assert body["route"] in {"simple", "context", "persona"}
    assert body["reason"] in {"keyword", "classifier", "fallback"}
    assert (await client.get("/api/chat/conversations")).json()["conversations"] == []


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": 3}, {"text": None}])
async def test_a_route_needs_words(client: httpx.AsyncClient, body: dict[str, object]) -> None:
    assert is_problem(await client.post("/api/route", json=body), 400, "invalid_request")
