"""Typed turns over HTTP."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.domain.errors import (
    ModelBusy,
    ModelDenied,
    ModelDown,
    ModelKey,
    ModelMissing,
    ModelUnreachable,
    ProviderFailed,
    ProviderTimeout,
)
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.http.context import Surroundings
from tertulia.entrypoints.http.sse import StreamHabits
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import client_of, eventually, is_problem, served, wav
from tests.http.event_reader import EventReader, events_in

HELLO = {"text": "Say hello"}
FAILURES: Mapping[Exception, tuple[int, str]] = {
    ModelKey(): (502, "model_key"),
    ModelDenied(): (502, "model_denied"),
    ModelMissing(): (502, "model_missing"),
    ModelDown(): (502, "model_down"),
    ModelUnreachable(): (502, "model_unreachable"),
    ProviderFailed(): (502, "model_failed"),
    ModelBusy(retry_after=6.2): (503, "model_busy"),
    ProviderTimeout(): (504, "model_timeout"),
}


async def test_a_text_is_answered(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/chat", json=HELLO)

    assert response.status_code == 200
    body = response.json()
    assert body["response"] == "Hello there."
    assert body["route"] == "simple"
    assert len(body["turn_id"]) == 26
    assert body["turn_id"] == body["turn_id"].lower()
    assert set(body["receipt"]) >= {"stages", "models", "tokens", "degraded", "tools_used", "memories_used"}
    assert "total" in body["receipt"]["stages"]


async def test_a_conversation_goes_on_with_its_id(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    async with client_of(make_assistant(chat_model=model)) as client:
        first = (await client.post("/api/chat", json={"text": "I am Ana"})).json()
        second = (await client.post("/api/chat", json=HELLO | {"conversation_id": first["conversation_id"]})).json()

    assert second["conversation_id"] == first["conversation_id"]
    assert next(message.text for message in model.prompts[1].messages if message.role == "user") == "I am Ana"


@pytest.mark.parametrize("absent", [None, ""])
async def test_null_and_empty_mean_absent(client: httpx.AsyncClient, absent: str | None) -> None:
    optional = [
        "conversation_id", "client_message_id", "language", "style", "scenario", "skill_id", "device_id", "timezone",
        "voice", "attachments",
    ]  # fmt: skip

    response = await client.post("/api/chat", json=HELLO | dict.fromkeys(optional, absent))

    assert response.status_code == 200
    stream = await client.post("/api/chat/stream", json=HELLO | {"speak": absent})
    assert events_in(stream.content)[-1].name == "done"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_request"),
        (b"{", 400, "invalid_request"),
        (b"not json", 400, "invalid_request"),
        (b"[]", 400, "invalid_request"),
        (b"\xff\xfe", 400, "invalid_request"),
        (b"[" * 100_000, 400, "invalid_request"),
        (b"{}", 400, "invalid_request"),
        (b'{"text": 5}', 400, "invalid_request"),
        (b'{"text": null}', 400, "invalid_request"),
        (b'{"text": ["a"]}', 400, "invalid_request"),
        (b'{"text": ""}', 400, "invalid_request"),
        (b'{"text": " \\n\\t"}', 400, "invalid_request"),
        (b'{"text": "\\ud800"}', 400, "invalid_request"),
        (b'{"text": "a\\u0000b"}', 422, "invalid_value"),
        (json.dumps({"text": "a" * 10_001}).encode(), 413, "too_large"),
        (json.dumps({"text": "a" * 1_100_000}).encode(), 413, "too_large"),
        (b'{"text": "a", "conversation_id": 5}', 400, "invalid_request"),
        (b'{"text": "a", "conversation_id": "abc123\\n"}', 422, "invalid_value"),
        (b'{"text": "a", "client_message_id": "a\\nb"}', 422, "invalid_value"),
        (b'{"text": "a", "client_message_id": "\\udfff"}', 422, "invalid_value"),
        (b'{"text": "a", "client_message_id": "' + b"k" * 129 + b'"}', 422, "invalid_value"),
        (b'{"text": "a", "style": "loud"}', 422, "invalid_value"),
        (b'{"text": "a", "timezone": "Mars/Olympus"}', 422, "invalid_value"),
        (b'{"text": "a", "timezone": "../../etc/passwd"}', 422, "invalid_value"),
        (b'{"text": "a", "language": "not a language"}', 422, "invalid_value"),
        (b'{"text": "a", "device_id": "a\\u0000"}', 422, "invalid_value"),
        (b'{"text": "a", "attachments": "x"}', 400, "invalid_request"),
        (b'{"text": "a", "attachments": ["../x"]}', 404, "not_found"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream"])
async def test_bad_input_gets_a_clear_answer_and_the_next_turn_works(
    client: httpx.AsyncClient, path: str, body: bytes, status: int, code: str
) -> None:
    response = await client.post(path, content=body, headers={"Content-Type": "application/json"})

    assert is_problem(response, status, code)
    assert (await client.post("/api/chat", json=HELLO)).status_code == 200


@pytest.mark.parametrize(
    "text", ["{braces} {0} {{x}}", "%s %(a)s", "𝄞 👩‍👩‍👧 ﷽", "<img src=x onerror=alert(1)>", "a" * 10_000]
)
async def test_odd_words_are_asked_as_they_stand(make_assistant: MakeAssistant, text: str) -> None:
    model = ScriptedModel()
    async with client_of(make_assistant(chat_model=model)) as client:
        response = await client.post("/api/chat", json={"text": text})

    assert response.status_code == 200
    assert text in model.prompts[0].messages[-1].text


@pytest.mark.parametrize("header", ["text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_that_does_not_say_it_is_json_is_not_read(client: httpx.AsyncClient, header: str) -> None:
    response = await client.post("/api/chat", content=b'{"text": "a"}', headers={"Content-Type": header})

    assert is_problem(response, 400, "invalid_request")


@pytest.mark.parametrize(
    "odd", ["abc123\n", "ABC", "a" * 65, "a/../b", "ａｂｃ", "123e4567-e89b-12d3-a456-42661417400"]
)  # fmt: skip
async def test_odd_conversation_ids_are_refused(client: httpx.AsyncClient, odd: str) -> None:
    """Case Z1; an empty one is absent."""
    assert is_problem(await client.post("/api/chat", json=HELLO | {"conversation_id": odd}), 422, "invalid_value")


@pytest.mark.parametrize("fine", ["a", "a" * 64, "123E4567-e89b-12d3-a456-426614174000"])
async def test_a_well_formed_but_unknown_conversation_is_not_found(client: httpx.AsyncClient, fine: str) -> None:
    assert is_problem(await client.post("/api/chat", json=HELLO | {"conversation_id": fine}), 404, "not_found")


@pytest.mark.parametrize("error", FAILURES)
@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream", "/api/voice"])
async def test_a_failing_model_is_told_in_one_plain_sentence_the_same_everywhere(
    make_assistant: MakeAssistant, error: Exception, path: str
) -> None:
    status, code = FAILURES[error]
    async with client_of(make_assistant(chat_model=ScriptedModel([[error]]))) as client:
        response = (
            await client.post(path, files={"audio": ("a.wav", wav())}, data={"language": "de"})
            if path == "/api/voice"
            else await client.post(path, json={"text": "Guten Tag", "language": "de"})
        )

    if path == "/api/chat/stream":
        failure = events_in(response.content)[-1]
        assert failure.name == "error"
        assert failure.json["code"] == code
        detail = failure.json["message"]
    else:
        assert is_problem(response, status, code)
        detail = response.json()["detail"]
        assert ("retry-after" in response.headers) == (
            code in {"model_busy", "model_down", "model_unreachable", "model_timeout"}
        )
    assert detail == await _sentence(make_assistant, error)


async def _sentence(make_assistant: MakeAssistant, error: Exception) -> str:
    async with client_of(make_assistant(chat_model=ScriptedModel([[error]]))) as client:
        response = await client.post("/api/chat", json={"text": "Guten Tag", "language": "de"})
        sentence: str = response.json()["detail"]
    assert not sentence.startswith("The ")
    return sentence


async def test_a_busy_model_says_when_to_come_back(make_assistant: MakeAssistant) -> None:
    async with client_of(make_assistant(chat_model=ScriptedModel([[ModelBusy(retry_after=6.2)]]))) as client:
        response = await client.post("/api/chat", json=HELLO)

    assert response.headers["retry-after"] == "7"


async def test_what_nobody_foresaw_leaks_nothing(make_assistant: MakeAssistant) -> None:
    async with client_of(make_assistant(chat_model=ScriptedModel([[RuntimeError("/etc/secret key=abc")]]))) as client:
        response = await client.post("/api/chat", json=HELLO)

    assert is_problem(response, 500, "internal")
    assert "secret" not in response.text


async def test_a_stream_tells_a_turn_in_order(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/chat/stream", json=HELLO)

    events = events_in(response.content)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    assert [event.name for event in events] == ["route", "token", "token", "token", "done"]
    assert events[0].json["turn_id"] == response.headers["x-turn-id"] == events[-1].json["turn_id"]
    assert events[0].json["conversation_id"] == response.headers["x-conversation-id"]
    assert "".join(event.json["text"] for event in events[1:-1]) == events[-1].json["response"] == "Hello there."
    numbers = [int(event.id) for event in events]
    assert numbers == sorted(set(numbers))
    assert response.content.endswith(b"\n\n")


async def test_newlines_of_the_model_reach_the_client_as_they_are(make_assistant: MakeAssistant) -> None:
    """Case E1, through the whole route."""
    model = ScriptedModel([["a", "\n", "\n", "  b", "\r\n", " c", "data: x"]])
    async with client_of(make_assistant(chat_model=model)) as client:
        events = events_in((await client.post("/api/chat/stream", json=HELLO)).content)

    assert "".join(event.json["text"] for event in events if event.name == "token") == "a\n\n  b\r\n cdata: x"
    assert events[-1].json["response"] == "a\n\n  b\r\n cdata: x"


async def test_a_stream_speaks_where_that_is_wished(client: httpx.AsyncClient) -> None:
    events = events_in((await client.post("/api/chat/stream", json=HELLO | {"speak": True})).content)

    speech = [event.json for event in events if event.name == "speech"]
    assert " ".join(sentence["text"] for sentence in speech) == "Hello there."
    assert all(sentence["audio"].startswith("UklGR") and sentence["duration_ms"] > 0 for sentence in speech)
    assert events[-1].name == "done"


async def test_a_slow_turn_is_kept_alive_with_comments(make_assistant: MakeAssistant) -> None:
    """Case E5: what is sent while nothing is said is no event."""
    surroundings = Surroundings(visitor="user-1", habits=StreamHabits(ping_seconds=0.02))
    async with client_of(make_assistant(chat_model=ScriptedModel(seconds_to_first=0.2)), surroundings) as client:
        response = await client.post("/api/chat/stream", json=HELLO)

    reader = EventReader()
    reader.feed(response.content)
    assert reader.comments.count("ping") >= 3
    assert "".join(event.json["text"] for event in reader.events if event.name == "token") == "Hello there."


def test_a_ping_comes_at_least_every_fifteen_seconds() -> None:
    assert StreamHabits().ping_seconds <= 15


async def test_a_stream_without_news_ends_where_streams_may_not_stay_open(make_assistant: MakeAssistant) -> None:
    surroundings = Surroundings(visitor="user-1", habits=StreamHabits(ping_seconds=0.02, quiet_seconds=0.1))
    assistant = make_assistant(chat_model=ScriptedModel(seconds_to_first=0.4))
    async with client_of(assistant, surroundings) as client:
        response = await client.post("/api/chat/stream", json=HELLO)
        reader = EventReader()
        reader.feed(response.content)
        await asyncio.sleep(0.4)
        again = await client.get(
            f"/api/turns/{response.headers['x-turn-id']}/events", headers={"Last-Event-ID": reader.events[-1].id}
        )

    assert reader.retry == 5000
    assert [event.name for event in reader.events] == ["route"]
    assert events_in(again.content)[-1].json["response"] == "Hello there."


@pytest.mark.parametrize("form", ["field", "header"])
async def test_two_requests_with_one_key_are_one_turn(make_assistant: MakeAssistant, form: str) -> None:
    """Case Y5."""
    model = ScriptedModel(seconds_to_first=0.1)
    body = HELLO | ({"client_message_id": "key-1"} if form == "field" else {})
    headers = {"Idempotency-Key": "key-1"} if form == "header" else {}
    async with client_of(make_assistant(chat_model=model)) as client:
        post = [client.post("/api/chat", json=body, headers=headers) for _ in range(2)]
        answers = [answer.json() for answer in await asyncio.gather(*post)]
        answers.append((await client.post("/api/chat", json=body, headers=headers)).json())
        kept = (await client.get(f"/api/chat/conversations/{answers[0]['conversation_id']}")).json()

    assert len(model.prompts) == 1
    assert len({(answer["turn_id"], answer["response"]) for answer in answers}) == 1
    assert [message["role"] for message in kept["messages"]] == ["user", "assistant"]


async def test_a_key_used_again_for_other_words_is_refused(client: httpx.AsyncClient) -> None:
    await client.post("/api/chat", json=HELLO | {"client_message_id": "key-1"})

    again = await client.post("/api/chat", json={"text": "Other words", "client_message_id": "key-1"})

    assert is_problem(again, 409, "key_reused")


async def test_a_repeated_stream_replays_its_events_and_speaks_again(client: httpx.AsyncClient) -> None:
    body = HELLO | {"client_message_id": "key-1", "speak": True}
    first = events_in((await client.post("/api/chat/stream", json=body)).content)
    again = events_in((await client.post("/api/chat/stream", json=body)).content)

    def sounds(events: list[Any]) -> list[Any]:
        return [event.json["audio"] for event in events if event.name == "speech"]

    assert again[-1].json == first[-1].json
    assert sounds(again) == sounds(first) != []


async def test_a_client_that_leaves_stops_the_model_and_what_was_said_is_kept(make_assistant: MakeAssistant) -> None:
    words = [f"word{number} " for number in range(200)]
    model = ScriptedModel([words, ["Fine."]], seconds_a_token=0.02)
    assistant = make_assistant(chat_model=model)
    async with served(create_app(assistant)) as client:
        async with client.stream("POST", "/api/chat/stream", json=HELLO) as response:
            reader = EventReader()
            async for piece in response.aiter_raw():
                reader.feed(piece)
                if sum(event.name == "token" for event in reader.events) >= 3:
                    break
        assert await eventually(lambda: model.stopped == 1)
        kept = await _kept(assistant, reader.events[0].json["turn_id"])
        assert kept["answer"].startswith("word0 word1 word2 ")
        assert kept["interrupted"]
        assert (await client.post("/api/chat", json=HELLO)).json()["response"] == "Fine."


async def test_a_client_that_leaves_while_it_waits_stops_the_model(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([["Too late."]], seconds_to_first=20)
    async with served(create_app(make_assistant(chat_model=model))) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post("/api/chat", json=HELLO, timeout=0.3)
        assert await eventually(lambda: model.stopped == 1)


async def _kept(assistant: Assistant, turn_id: str) -> dict[str, Any]:
    for _ in range(100):
        if found := await assistant.conversations.find_turn("user-1", turn_id):
            return {"answer": found[1].answer, "interrupted": found[1].interrupted}
        await asyncio.sleep(0.01)
    raise AssertionError("the interrupted turn was not kept")
