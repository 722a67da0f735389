"""Whole turns in the deployment: from the gateway through the functions as built to the stores of the template."""

import asyncio
import io
import json
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.http.event_reader import Event, events_in
from tests.lambdas.cloud import KEY, LocalCloud

ORIGIN = "http://localhost:3000"
RECORDED = Path(__file__).parents[1]


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    """Return a user who has done nothing yet."""
    name: str = request.node.originalname
    return name.removeprefix("test_")[:40].strip("_").replace("_", "-")


@pytest.fixture
def client(local_cloud: LocalCloud, user: str) -> Iterator[httpx.Client]:
    """Return a client of the user."""
    token = local_cloud.token_of(user)
    headers = {"Authorization": f"Bearer {token}", "Origin": ORIGIN}
    with httpx.Client(base_url=local_cloud.url, headers=headers, timeout=120) as made:
        yield made


def chatted(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    response = client.post("/api/chat", json={"text": "Hello"} | fields)
    assert response.status_code == 200, response.text
    return dict(response.json())


def streamed(client: httpx.Client, path: str = "/api/chat/stream", **asked: Any) -> list[Event]:
    response = client.post(path, headers={"Accept": "text/event-stream"}, **asked)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return events_in(response.content)


def test_three_turns_on_a_warm_function_are_three_answers(client: httpx.Client) -> None:
    answers = [chatted(client, text=text) for text in ("one", "two", "three")]
    assert [answer["response"] for answer in answers] == ["Hello there."] * 3
    listed = client.get("/api/chat/conversations").json()["conversations"]
    assert sorted(each["title"] for each in listed) == ["one", "three", "two"]


def test_a_turn_is_stored_and_followed_up_when_its_function_has_returned(
    client: httpx.Client, local_cloud: LocalCloud
) -> None:
    answer = chatted(client)
    kept = client.get(f"/api/chat/conversations/{answer['conversation_id']}").json()
    assert [message["content"] for message in kept["messages"]] == ["Hello", "Hello there."]
    states = local_cloud.client("stepfunctions")
    pages = states.list_executions(stateMachineArn=local_cloud.outputs["AfterTurn"])
    names = [execution["name"] for execution in pages["executions"]]
    assert f"{answer['conversation_id']}-{answer['turn_id']}" in names


def test_the_same_message_sent_twice_at_once_and_again_is_one_turn(client: httpx.Client) -> None:
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda _: chatted(client, client_message_id="m-1"), range(2)))
    answers.append(chatted(client, client_message_id="m-1"))
    assert len({answer["turn_id"] for answer in answers}) == 1
    assert len(client.get("/api/chat/conversations").json()["conversations"]) == 1


def test_a_turn_is_streamed_and_can_be_read_again(client: httpx.Client) -> None:
    events = streamed(client, json={"text": "Hello"})
    assert [events[0].name, events[-1].name] == ["route", "done"]
    words = "".join(event.json["text"] for event in events if event.name == "token")
    assert words == events[-1].json["response"] == "Hello there."
    again = client.get(f"/api/turns/{events[-1].json['turn_id']}/events")
    assert events_in(again.content)[-1].json["response"] == words


@pytest.mark.parametrize("recording", ["webm", "mp4", "wav"])
def test_a_recording_is_answered_with_sound(recording: str, client: httpx.Client) -> None:
    data = (RECORDED / f"recordings/capital_of_france.{recording}").read_bytes()
    response = client.post("/api/voice", files={"audio": (f"a.{recording}", data)})
    assert response.status_code == 200, response.text
    with wave.open(io.BytesIO(response.content)) as sound:
        assert sound.getnframes() > 0
    assert response.headers["x-response"] == "Hello there."
    names = [event.name for event in streamed(client, "/api/voice", files={"audio": (f"a.{recording}", data)})]
    assert names[-1] == "done"
    assert "transcript" in names
    assert "speech" in names


def test_a_text_is_said_aloud_at_any_length(client: httpx.Client) -> None:
    response = client.post("/api/tts", json={"text": "One sentence is said. " * 100})
    with wave.open(io.BytesIO(response.content)) as sound:
        assert sound.getnframes() > 0


def test_without_a_token_nobody_is_answered_and_the_page_can_read_why(local_cloud: LocalCloud) -> None:
    for path in ("/api/chat", "/api/chat/stream"):
        for token in ({}, {"Authorization": "Bearer nobody"}):
            response = httpx.post(local_cloud.url + path, json={}, headers={"Origin": ORIGIN, **token}, timeout=60)
            assert response.status_code == 401
            assert response.json()["code"] == "unauthorized"
            assert response.headers["access-control-allow-origin"] in {"*", ORIGIN}


def test_a_page_may_ask_before_it_asks(local_cloud: LocalCloud) -> None:
    asking = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    for path in ("/api/chat", "/api/chat/stream"):
        response = httpx.options(local_cloud.url + path, headers=asking, timeout=60)
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == ORIGIN


@pytest.mark.parametrize(
    ("path", "more", "status", "code"),
    [
        ("/api/chat", {"content": b"{", "headers": {"Content-Type": "application/json"}}, 400, "invalid_request"),
        ("/api/nowhere", {"json": {}}, 404, "not_found"),
        ("/api/chat", {"json": {"text": "x" * 1_100_000}}, 413, "too_large"),
        ("/api/chat/send-with-file", {"files": {"file": bytes(6_000_000)}, "data": {"message": "x"}}, 413, "too_large"),
        ("/api/chat/send-with-file", {"files": {"file": bytes(20 << 20)}, "data": {"message": "x"}}, 413, "too_large"),
    ],
)
def test_failures_have_the_contracts_form_whoever_tells_them(
    path: str, more: dict[str, Any], status: int, code: str, client: httpx.Client
) -> None:
    response = client.post(path, **more)
    assert response.status_code == status
    assert response.json()["code"] == code
    assert response.json()["error"] == response.json()["detail"]
    assert response.headers["access-control-allow-origin"] in {"*", ORIGIN}
    if code == "too_large" and path != "/api/chat":
        assert "/api/uploads" in response.json()["detail"]


def test_a_turn_that_the_model_never_answers_is_stopped_and_told_before_lambda_kills_it(
    client: httpx.Client, user: str, local_cloud: LocalCloud
) -> None:
    chatted(client)
    event = json.loads((RECORDED / "events/rest_chat_stream.json").read_text("utf-8"))
    event |= {"body": json.dumps({"text": "This is never answered."})}
    event["requestContext"]["authorizer"] |= {"principalId": user, "user": user}
    answering = local_cloud.host.invoke("ChatFunction", json.dumps(event).encode(), seconds=10)
    *_, last = events_in(local_cloud.run(answering).partition(bytes(8))[2])
    assert (last.name, last.json["response"]) == ("done", "")
    kept = client.get(f"/api/chat/conversations/{last.json['conversation_id']}").json()
    assert kept["messages"][0]["content"] == "This is never answered."


def test_a_client_that_leaves_loses_nothing(client: httpx.Client) -> None:
    with client.stream("POST", "/api/chat/stream", json={"text": "Hello"}) as response:
        turn_id, conversation = response.headers["x-turn-id"], response.headers["x-conversation-id"]
    assert events_in(client.get(f"/api/turns/{turn_id}/events").content)[-1].name == "done"
    kept = client.get(f"/api/chat/conversations/{conversation}").json()
    assert [message["content"] for message in kept["messages"]] == ["Hello", "Hello there."]


def test_many_turns_at_once_are_all_answered(local_cloud: LocalCloud) -> None:
    tokens = [local_cloud.token_of(f"many-{place}") for place in range(3)]

    async def at_once() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=local_cloud.url, timeout=120) as several:
            asked = [
                several.post("/api/chat", json={"text": "Hello"}, headers={"Authorization": f"Bearer {token}"})
                for token in tokens
            ]
            return await asyncio.gather(*asked)

    assert [response.json()["response"] for response in asyncio.run(at_once())] == ["Hello there."] * 3


def test_no_words_and_no_keys_are_written_to_any_log(client: httpx.Client, local_cloud: LocalCloud) -> None:
    chatted(client, text="My doctor is Doctor Tulp.")
    written = "\n".join(line for lines in local_cloud.host.logs.values() for line in lines)
    assert '"Requests":[1.0]' in written
    for secret in (KEY, "Tulp", "Hello there", client.headers["Authorization"].split()[1]):
        assert secret not in written
