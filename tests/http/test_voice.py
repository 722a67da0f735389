"""Spoken turns over HTTP, and recordings that are only written down."""

import asyncio
import base64
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.domain.audio import HearingOutcome
from tertulia.domain.errors import ModelDown
from tertulia.entrypoints.http.spoken import MOST_HEADER_BYTES, exact, readable
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel, ScriptedTranscriber, ToneVoice
from tests.http.clients import client_of, is_problem, seconds_of, wav
from tests.http.event_reader import events_in

RECORDING = {"audio": ("recording.webm", wav(), "application/octet-stream")}
JSON = {"Accept": "application/json"}
EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture
def silent(make_assistant: MakeAssistant) -> Assistant:
    """Return an assistant to which nobody speaks."""
    return make_assistant(transcriber=ScriptedTranscriber(text="", outcome=HearingOutcome.SILENCE))


@pytest.fixture(params=["broken", "foreign"])
def mute(request: pytest.FixtureRequest, make_assistant: MakeAssistant) -> Assistant:
    """Return an assistant whose voice fails, or does not speak the language."""
    voice = ToneVoice(error=ModelDown()) if request.param == "broken" else ToneVoice(languages=("de",))
    return make_assistant(synthesizer=voice)


@pytest.mark.parametrize(
    "accept", ["*/*", "audio/wav", "audio/x-wav", "audio/*", "text/html", "application/json;q=0.1, */*"]
)
async def test_a_recording_is_answered_aloud(client: httpx.AsyncClient, accept: str) -> None:
    response = await client.post("/api/voice", files=RECORDING, headers={"Accept": accept})

    assert response.status_code == 200
    assert response.headers["content-type"] == "audio/wav"
    assert seconds_of(response.content) == pytest.approx(0.01 * len("Hello there."), abs=0.02)
    assert response.headers["x-transcript"] == "What is the capital of France?"
    assert response.headers["x-response"] == "Hello there."
    assert unquote(response.headers["x-transcript-encoded"]) == "What is the capital of France?"
    assert response.headers["x-route"] == "simple"
    assert len(response.headers["x-turn-id"]) == 26
    assert response.headers["x-conversation-id"]


async def test_a_spoken_answer_comes_as_json_too(client: httpx.AsyncClient) -> None:
    body = (await client.post("/api/voice", files=RECORDING, headers=JSON)).json()

    assert set(body) == {"transcript", "response", "audio", "outcome", "conversation_id", "turn_id", "route", "receipt"}
    assert body["outcome"] == "speech"
    assert seconds_of(base64.b64decode(body["audio"], validate=True)) > 0
    assert "transcribe" in body["receipt"]["stages"]


async def test_a_spoken_answer_streams(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/voice", files=RECORDING, headers=EVENTS)

    names = [event.name for event in events_in(response.content)]
    assert names[0] == "transcript"
    assert set(names) == {"transcript", "route", "token", "speech", "done"}
    assert names[-1] == "done"


async def test_several_sentences_are_one_file(make_assistant: MakeAssistant) -> None:
    text = "One sentence is here. Another one follows it. The third one ends it."
    async with client_of(make_assistant(chat_model=ScriptedModel([[text]]))) as client:
        response = await client.post("/api/voice", files=RECORDING)

    assert seconds_of(response.content) == pytest.approx(0.01 * len(text), abs=0.1)


async def test_fields_of_the_form_count_and_empty_ones_are_absent(client: httpx.AsyncClient) -> None:
    first = await client.post("/api/voice", files=RECORDING, data={"conversation_id": "", "language": ""}, headers=JSON)
    conversation = first.json()["conversation_id"]
    again = await client.post("/api/voice", files=RECORDING, data={"conversation_id": conversation}, headers=JSON)
    odd = await client.post("/api/voice", files=RECORDING, data={"conversation_id": "a\n"})

    assert again.json()["conversation_id"] == conversation
    assert is_problem(odd, 422, "invalid_value")


async def test_one_key_is_one_spoken_turn_and_it_is_spoken_again(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel(seconds_to_first=0.05)
    async with client_of(make_assistant(chat_model=model)) as client:
        post = [client.post("/api/voice", files=RECORDING, data={"client_message_id": "key"}) for _ in range(2)]
        answers = await asyncio.gather(*post)
        answers.append(await client.post("/api/voice", files=RECORDING, data={"client_message_id": "key"}))

    assert len(model.prompts) == 1
    assert len({answer.headers["x-turn-id"] for answer in answers}) == 1
    assert len({answer.content for answer in answers}) == 1
    assert seconds_of(answers[0].content) > 0


async def test_silence_is_no_turn(silent: Assistant) -> None:
    async with client_of(silent) as client:
        sound = await client.post("/api/voice", files=RECORDING)
        body = (await client.post("/api/voice", files=RECORDING, headers=JSON)).json()
        events = events_in((await client.post("/api/voice", files=RECORDING, headers=EVENTS)).content)
        kept = (await client.get("/api/chat/conversations")).json()["conversations"]

    assert is_problem(sound, 422, "silence")
    assert body["outcome"] == "silence"
    assert (body["transcript"], body["response"], body["audio"], body["turn_id"]) == ("", "", None, None)
    assert "audio_error" not in body
    assert [event.name for event in events] == ["transcript", "done"]
    assert events[0].json["text"] == ""
    assert events[0].json["outcome"] == "silence"
    assert (events[1].json["response"], events[1].json["turn_id"]) == ("", None)
    assert kept == []


async def test_a_voice_that_fails_never_loses_the_text(mute: Assistant) -> None:
    async with client_of(mute) as client:
        sound = await client.post("/api/voice", files=RECORDING)
        body = (await client.post("/api/voice", files=RECORDING, headers=JSON)).json()
        events = events_in((await client.post("/api/voice", files=RECORDING, headers=EVENTS)).content)

    assert sound.status_code == 200
    assert seconds_of(sound.content) == 0
    assert sound.headers["x-audio-error"]
    assert unquote(sound.headers["x-response-encoded"]) == "Hello there."
    assert body["audio"] is None
    assert body["audio_error"]
    assert body["response"] == "Hello there."
    assert any(what.startswith("speech") for what in body["receipt"]["degraded"])
    assert events[-1].json["response"] == "Hello there."


@pytest.mark.parametrize("path", ["/api/voice", "/api/stt"])
async def test_a_request_without_a_recording_says_so(client: httpx.AsyncClient, path: str) -> None:
    assert is_problem(await client.post(path), 400, "invalid_request")
    assert is_problem(await client.post(path, data={"language": "en"}), 400, "invalid_request")
    assert is_problem(await client.post(path, json={"audio": "x"}), 400, "invalid_request")


@pytest.mark.parametrize("path", ["/api/voice", "/api/stt"])
async def test_an_empty_recording_holds_no_audio(client: httpx.AsyncClient, path: str) -> None:
    assert is_problem(await client.post(path, files={"audio": ("a.wav", b"")}), 422, "no_audio")


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("body", [b"", b"--x", b"--y\r\n\r\n"])
async def test_a_broken_form_is_told(client: httpx.AsyncClient, kind: str, body: bytes) -> None:
    response = await client.post("/api/voice", content=body, headers={"Content-Type": kind})

    assert is_problem(response, 400, "invalid_request")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_form_that_is_cut_short_is_told(client: httpx.AsyncClient) -> None:
    # The framework leaves the file of a form without an end to the garbage collector, which warns.
    body = b'--x\r\nContent-Disposition: form-data; name="audio"; filename="a"\r\n\r\nRIFF'

    response = await client.post(
        "/api/voice", content=body, headers={"Content-Type": "multipart/form-data; boundary=x"}
    )

    assert is_problem(response, 400, "invalid_request")


@pytest.mark.parametrize("path", ["/api/voice", "/api/stt"])
async def test_a_recording_over_the_limit_is_refused(client: httpx.AsyncClient, path: str) -> None:
    just_over = {"audio": ("a.wav", b"\0" * 25_000_001)}

    response = await client.post(path, files=just_over)

    assert is_problem(response, 413, "too_large")
    assert "25 MB" in response.json()["detail"]


async def test_a_recording_is_written_down_without_a_turn(client: httpx.AsyncClient) -> None:
    body = (await client.post("/api/stt", files=RECORDING, data={"language": "en-US"})).json()

    assert body == {
        "text": "What is the capital of France?",
        "language": "en-US",
        "duration_seconds": 1.0,
        "outcome": "speech",
    }
    assert (await client.get("/api/chat/conversations")).json()["conversations"] == []


async def test_silence_is_written_down_as_silence(silent: Assistant) -> None:
    async with client_of(silent) as client:
        body = (await client.post("/api/stt", files=RECORDING)).json()

    assert (body["text"], body["outcome"]) == ("", "silence")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Café\r\nnoir: 你好 ok", "Cafe noir: ok"),
        ("Straße\tnaïve", "Strae naive"),
        ("a\x00\x7fb", "ab"),
        ("x" * 3000, "x" * MOST_HEADER_BYTES),
    ],
)
def test_readable_headers_are_plain(text: str, shown: str) -> None:
    assert readable(text) == shown


@pytest.mark.parametrize("text", ["100 % 你好\n🌍", "🌍" * 500, "é" * 999 + "%"])
def test_exact_headers_are_cut_at_whole_characters(text: str) -> None:
    encoded = exact(text)

    assert encoded.isascii()
    assert len(encoded) <= MOST_HEADER_BYTES
    decoded: Any = unquote(encoded, errors="strict")
    assert text.startswith(decoded)
    assert decoded == text or len(encoded) > MOST_HEADER_BYTES - 12
