"""One turn, for real: a recording in, the words heard, an answer of a local model, its speech understood again."""

import base64
import io
import wave
from pathlib import Path

import httpx
import pytest

from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.adapters.embedded.whisper import WhisperTranscriber
from tests.http.event_reader import EventReader
from tests.model_files import model_library
from tests.whole.conftest import Server

pytestmark = pytest.mark.models

RECORDINGS = Path(__file__).parents[1] / "recordings"


def words(text: str) -> set[str]:
    return set("".join(character if character.isalnum() else " " for character in text.lower()).split())


async def heard_again(sound: bytes) -> set[str]:
    ear = WhisperTranscriber(model_library().path("whisper-tiny-en"))
    transcript = await ear.transcribe(await PyavDecoder().decode(sound), "en-US")
    await ear.close()
    return words(transcript.text)


def test_the_server_says_where_it_answers(server: Server) -> None:
    assert server.announced == f"Tertulia answers at {server.address}"


async def test_a_spoken_question_is_heard_answered_and_spoken_back(client: httpx.Client) -> None:
    recording = (RECORDINGS / "capital_of_france.webm").read_bytes()
    answer = client.post("/api/voice", files={"audio": ("blob", recording)}, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.text
    turn = answer.json()
    assert {"capital", "france"} <= words(turn["transcript"])
    assert "paris" in words(turn["response"])
    sound = base64.b64decode(turn["audio"])
    with wave.open(io.BytesIO(sound)) as reader:
        assert reader.getnframes() / reader.getframerate() > 0.5
    said, understood = words(turn["response"]), await heard_again(sound)
    assert len(said & understood) >= 0.7 * len(said), (turn["response"], understood)


def test_the_conversation_goes_on_and_is_kept(client: httpx.Client) -> None:
    first = client.post("/api/chat", json={"text": "My name is Lena. Say hello to me."}).json()
    second = client.post(
        "/api/chat", json={"text": "What is my name?", "conversation_id": first["conversation_id"]}
    ).json()
    assert "lena" in words(second["response"])
    kept = client.get(f"/api/chat/conversations/{first['conversation_id']}").json()
    assert [message["role"] for message in kept["messages"]] == ["user", "assistant"] * 2
    assert kept["messages"][-1]["content"] == second["response"]


def test_the_agent_computes_with_its_calculator(client: httpx.Client) -> None:
    turn = client.post("/api/chat", json={"text": "What is 23 times 17?"}).json()
    assert turn["route"] == "context"
    assert turn["receipt"]["tools_used"] == ["calculator"]
    assert "391" in turn["response"]


def test_tokens_and_speech_come_while_the_answer_is_written(client: httpx.Client) -> None:
    body = {"text": "Why is the sky blue? Answer in two sentences.", "speak": True}
    with client.stream("POST", "/api/chat/stream", json=body) as response:
        reader = EventReader()
        for chunk in response.iter_raw():
            reader.feed(chunk)
    names = [event.name for event in reader.events]
    assert names[-1] == "done"
    assert names.index("token") < names.index("speech") < len(names) - 1
