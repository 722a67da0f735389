"""Turns under way over HTTP: stopped, followed again, and told to other pages."""

import base64

import httpx
import pytest

from tertulia.entrypoints.http.app import create_app
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import ANA, BEN, TWO_USERS, is_problem, seconds_of, served
from tests.http.event_reader import EventReader, events_in

HELLO = {"text": "Hello"}
UNKNOWN = "01k0000000000000000000000a"


async def test_a_running_turn_stops_by_its_route_and_what_was_said_is_kept(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[f"word{number} " for number in range(500)]], seconds_a_token=0.01)
    async with served(create_app(make_assistant(chat_model=model))) as client:
        reader = EventReader()
        async with client.stream("POST", "/api/chat/stream", json=HELLO) as response:
            async for piece in response.aiter_raw():
                reader.feed(piece)
                if reader.events[-1].name == "token" and not model.stopped:
                    stopped = await client.post(f"/api/turns/{response.headers['x-turn-id']}/stop")
                    assert stopped.status_code == 202
        again = await client.post(f"/api/turns/{response.headers['x-turn-id']}/stop")

    done = reader.events[-1]
    assert done.name == "done"
    assert done.json["interrupted"]
    assert done.json["response"].startswith("word0 ")
    assert model.stopped == 1
    assert again.status_code == 202


@pytest.mark.parametrize("turn_id", [UNKNOWN, "x", "a" * 26, "01K0000000000000000000000A", "%00", "a%0Ab", "é"])
async def test_an_unknown_turn_is_not_found(client: httpx.AsyncClient, turn_id: str) -> None:
    assert is_problem(await client.post(f"/api/turns/{turn_id}/stop"), 404, "not_found")
    assert is_problem(await client.get(f"/api/turns/{turn_id}/events"), 404, "not_found")


async def test_the_events_of_an_ended_turn_are_sent_again_from_where_the_client_was(client: httpx.AsyncClient) -> None:
    first = events_in((await client.post("/api/chat/stream", json=HELLO | {"speak": True})).content)
    turn_id = first[-1].json["turn_id"]

    whole = events_in((await client.get(f"/api/turns/{turn_id}/events")).content)
    rest = events_in((await client.get(f"/api/turns/{turn_id}/events", headers={"Last-Event-ID": whole[1].id})).content)
    same = events_in((await client.get(f"/api/turns/{turn_id}/events", params={"after": whole[1].id})).content)

    assert "".join(event.json["text"] for event in whole if event.name == "token") == "Hello there."
    assert whole[-1].json == first[-1].json
    assert rest == same == whole[2:]
    spoken = [event.json for event in whole if event.name == "speech"]
    assert all(seconds_of(base64.b64decode(sentence["audio"])) > 0 for sentence in spoken)
    assert spoken


async def test_a_turn_that_runs_is_followed_live(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([["One ", "two ", "three."]], seconds_a_token=0.1)
    async with (
        served(create_app(make_assistant(chat_model=model))) as client,
        client.stream("POST", "/api/chat/stream", json=HELLO) as response,
    ):
        followed = await client.get(f"/api/turns/{response.headers['x-turn-id']}/events")
        first = events_in(await response.aread())

    assert events_in(followed.content) == first
    assert first[-1].json["response"] == "One two three."


@pytest.mark.parametrize("last", ["abc", "-1", "1.5", "9" * 30])
async def test_a_last_event_that_is_no_number_is_refused(client: httpx.AsyncClient, last: str) -> None:
    turn_id = (await client.post("/api/chat", json=HELLO)).json()["turn_id"]

    response = await client.get(f"/api/turns/{turn_id}/events", headers={"Last-Event-ID": last})

    assert is_problem(response, 422, "invalid_value")


async def test_another_users_turn_is_not_found(shared: httpx.AsyncClient) -> None:
    """Case J6."""
    turn_id = (await shared.post("/api/chat", json=HELLO, headers=ANA)).json()["turn_id"]

    for method, end in (("GET", "events"), ("POST", "stop")):
        foreign = await shared.request(method, f"/api/turns/{turn_id}/{end}", headers=BEN)
        unknown = await shared.request(method, f"/api/turns/{UNKNOWN}/{end}", headers=BEN)
        assert is_problem(foreign, 404, "not_found")
        same = {"request_id"}
        assert {k: v for k, v in foreign.json().items() if k not in same} == {
            k: v for k, v in unknown.json().items() if k not in same
        }


async def test_other_pages_of_the_user_hear_of_a_stored_turn(make_assistant: MakeAssistant) -> None:
    async with served(create_app(make_assistant(), surroundings=TWO_USERS)) as client:
        reader = EventReader()
        async with client.stream("GET", "/api/events", headers=ANA | {"Last-Event-ID": "0"}) as response:
            await client.post("/api/chat", json=HELLO, headers=BEN)
            turn = (await client.post("/api/chat", json=HELLO, headers=ANA)).json()
            async for piece in response.aiter_raw():
                reader.feed(piece)
                if reader.events:
                    break
        missed = (await client.post("/api/chat", json=HELLO, headers=ANA)).json()
        async with client.stream(
            "GET", "/api/events", headers=ANA | {"Last-Event-ID": reader.events[0].id}
        ) as response:
            again = EventReader()
            async for piece in response.aiter_raw():
                again.feed(piece)
                if again.events:
                    break

    assert response.headers["content-type"].startswith("text/event-stream")
    assert [(event.name, event.json["turn_id"]) for event in reader.events] == [("turn", turn["turn_id"])]
    assert reader.events[0].json["conversation_id"] == turn["conversation_id"]
    assert [event.json["turn_id"] for event in again.events] == [missed["turn_id"]]
    assert int(again.events[0].id) > int(reader.events[0].id)
