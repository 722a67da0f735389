"""Reminders over HTTP, and how they are told: by the user's own stream, and first in the next turn."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.entrypoints.http.app import create_app
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.http.clients import ANA, BEN, TWO_USERS, client_of, is_problem, served
from tests.http.event_reader import Event, EventReader

CALL = {"text": "call Ben", "when": "in 20 minutes", "timezone": "America/Sao_Paulo"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(at=datetime(2026, 11, 30, 23, 30, tzinfo=UTC))


@pytest.fixture
def assistant(make_assistant: MakeAssistant, clock: FakeClock) -> Assistant:
    return make_assistant(clock=clock)


@pytest.fixture
async def client(assistant: Assistant) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(assistant, TWO_USERS) as client:
        client.headers.update(ANA)
        yield client


async def told(assistant: Assistant, after: int = 0, most: int = 1) -> list[Event]:
    """Return the next events of Ana's stream, as a client reads them."""
    reader = EventReader()
    async with (
        served(create_app(assistant, surroundings=TWO_USERS)) as client,
        client.stream("GET", f"/api/events?after={after}", headers=ANA) as response,
    ):
        async with asyncio.timeout(5):
            async for piece in response.aiter_raw():
                reader.feed(piece)
                if len(reader.events) >= most:
                    break
    return reader.events


async def test_a_reminder_is_set_in_the_users_zone_and_listed(client: httpx.AsyncClient) -> None:
    """Case B1."""
    await client.put("/api/me/settings", json={"timezone": "Asia/Shanghai"})
    made = await client.post("/api/reminders", json={"text": " call  Ben ", "when": "tomorrow at 9"})

    assert made.status_code == 201
    reminder = made.json()
    assert reminder["text"] == "call Ben"
    assert reminder["due_at"] == "2026-12-02T09:00:00+08:00"
    assert (reminder["timezone"], reminder["repeat"], reminder["state"]) == ("Asia/Shanghai", "none", "waiting")
    assert (await client.get("/api/reminders")).json() == {"reminders": [reminder]}


async def test_words_of_the_users_language_are_understood(client: httpx.AsyncClient) -> None:
    german = {"text": "Müll rausbringen", "when": "jeden Montag um halb neun", "language": "de-DE"}
    made = (await client.post("/api/reminders", json=german | {"timezone": "Europe/Berlin"})).json()
    assert (made["due_at"], made["repeat"]) == ("2026-12-07T08:30:00+01:00", "weekly")


@pytest.mark.parametrize(
    ("when", "says"),
    [("tomorrow", "what time"), ("tomorrow at 5", "morning"), ("yesterday at noon", "over"), ("whenever", "ask when")],
)
async def test_a_time_that_is_open_is_asked_for_and_nothing_is_set(
    client: httpx.AsyncClient, when: str, says: str
) -> None:
    refused = await client.post("/api/reminders", json={"text": "call Ben", "when": when})
    assert is_problem(refused, 422, "invalid_value")
    assert says in refused.json()["detail"]
    assert (await client.get("/api/reminders")).json() == {"reminders": []}


async def test_what_rings_is_told_by_the_stream_once_and_listed_as_ringing(
    client: httpx.AsyncClient, assistant: Assistant, clock: FakeClock
) -> None:
    made = (await client.post("/api/reminders", json=CALL)).json()
    assert await assistant.reminder_timer.ring_due() == 0
    clock.move(minutes=20)
    assert await assistant.reminder_timer.ring_due() == 1
    assert await assistant.reminder_timer.ring_due() == 0

    [event] = await told(assistant)
    assert event.name == "reminder"
    assert event.json == {
        "id": made["id"],
        "text": "call Ben",
        "due_at": "2026-11-30T23:50:00+00:00",
        "timezone": "America/Sao_Paulo",
        "repeat": "none",
        "missed": False,
    }
    [listed] = (await client.get("/api/reminders")).json()["reminders"]
    assert (listed["state"], listed["due_at"]) == ("ringing", None)


async def test_the_next_turn_begins_with_what_rang_and_the_one_after_does_not(
    client: httpx.AsyncClient, assistant: Assistant, clock: FakeClock
) -> None:
    await client.post("/api/reminders", json=CALL)
    clock.move(minutes=20)
    await assistant.reminder_timer.ring_due()

    first = (await client.post("/api/chat", json={"text": "hi", "language": "en-US"})).json()
    again = (await client.post("/api/chat", json={"text": "hi", "language": "en-US"})).json()
    assert first["response"] == "Reminder for 20:50: call Ben. Hello there."
    assert again["response"] == "Hello there."


async def test_what_was_acknowledged_is_told_no_more(
    client: httpx.AsyncClient, assistant: Assistant, clock: FakeClock
) -> None:
    made = (await client.post("/api/reminders", json=CALL)).json()
    clock.move(minutes=20)
    await assistant.reminder_timer.ring_due()
    known = await client.post(f"/api/reminders/{made['id']}/acknowledge")

    assert known.json()["state"] == "done"
    assert (await client.post(f"/api/reminders/{made['id']}/acknowledge")).status_code == 200
    assert (await client.get("/api/reminders")).json() == {"reminders": []}
    assert (await client.post("/api/chat", json={"text": "hi"})).json()["response"] == "Hello there."


async def test_a_missed_reminder_says_so(client: httpx.AsyncClient, assistant: Assistant, clock: FakeClock) -> None:
    await client.post("/api/reminders", json=CALL)
    clock.move(days=2)
    await assistant.reminder_timer.ring_due()

    [event] = await told(assistant)
    assert event.json["missed"]
    said = (await client.post("/api/chat", json={"text": "hi", "language": "de"})).json()["response"]
    assert said == "Sie haben eine Erinnerung für 2026-11-30 20:50 verpasst: call Ben. Hello there."


async def test_a_snoozed_reminder_rings_again(
    client: httpx.AsyncClient, assistant: Assistant, clock: FakeClock
) -> None:
    made = (await client.post("/api/reminders", json=CALL)).json()
    clock.move(minutes=20)
    await assistant.reminder_timer.ring_due()

    put_off = (await client.post(f"/api/reminders/{made['id']}/snooze")).json()
    assert (put_off["state"], put_off["due_at"]) == ("waiting", "2026-11-30T21:00:00-03:00")
    assert (await client.post("/api/chat", json={"text": "hi"})).json()["response"] == "Hello there."
    clock.move(minutes=9)
    assert await assistant.reminder_timer.ring_due() == 0
    clock.move(minutes=1)
    assert await assistant.reminder_timer.ring_due() == 1
    assert [event.json["due_at"][11:16] for event in await told(assistant, most=3) if event.name == "reminder"] == [
        "23:50",
        "00:00",
    ]


@pytest.mark.parametrize("body", [{"minutes": 90}, {"when": "at 10:20 pm"}, {"when": "2026-12-01T01:20Z"}])
async def test_a_reminder_is_put_off_for_minutes_or_until_a_time(
    client: httpx.AsyncClient, body: dict[str, object]
) -> None:
    made = (await client.post("/api/reminders", json=CALL)).json()
    zone = {"timezone": "America/Sao_Paulo"}
    put_off = (await client.post(f"/api/reminders/{made['id']}/snooze", json=body | zone)).json()
    assert put_off["due_at"] == ("2026-11-30T22:00:00-03:00" if "minutes" in body else "2026-11-30T22:20:00-03:00")


async def test_a_canceled_reminder_never_rings(
    client: httpx.AsyncClient, assistant: Assistant, clock: FakeClock
) -> None:
    made = (await client.post("/api/reminders", json=CALL)).json()
    assert (await client.delete(f"/api/reminders/{made['id']}")).status_code == 204
    clock.move(days=1)
    assert await assistant.reminder_timer.ring_due() == 0
    assert (await client.get("/api/reminders")).json() == {"reminders": []}
    assert is_problem(await client.delete(f"/api/reminders/{made['id']}"), 404, "not_found")
    assert is_problem(await client.post(f"/api/reminders/{made['id']}/snooze"), 404, "not_found")


async def test_another_users_reminder_is_not_found(client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/reminders", json=CALL)).json()
    assert (await client.get("/api/reminders", headers=BEN)).json() == {"reminders": []}
    for method, end in (("DELETE", ""), ("POST", "/snooze"), ("POST", "/acknowledge")):
        for known in (made["id"], "0" * 16, "nonsense"):
            asked = await client.request(method, f"/api/reminders/{known}{end}", headers=BEN)
            assert is_problem(asked, 404, "not_found")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"text": "x"},
        {"when": "in 1 hour"},
        CALL | {"text": "x" * 501},
        CALL | {"timezone": "Mars/Base"},
        CALL | {"text": "  "},
    ],
)
async def test_what_no_reminder_can_be_made_of_is_refused(client: httpx.AsyncClient, fields: dict[str, str]) -> None:
    assert (await client.post("/api/reminders", json=fields)).status_code in {400, 422}


async def test_nobody_has_more_reminders_than_they_can_look_through(client: httpx.AsyncClient) -> None:
    for _ in range(200):
        await client.post("/api/reminders", json=CALL)
    assert is_problem(await client.post("/api/reminders", json=CALL), 409, "conflict")


async def test_events_are_sent_again_from_the_last_one_a_page_has_also_after_a_restart(
    client: httpx.AsyncClient, assistant: Assistant, make_assistant: MakeAssistant, clock: FakeClock
) -> None:
    for minutes in (10, 20, 30):
        await client.post("/api/reminders", json=CALL | {"when": f"in {minutes} minutes"})
    clock.move(minutes=10)
    await assistant.reminder_timer.ring_due()
    [first] = await told(assistant)
    clock.move(minutes=20)
    restarted = make_assistant(clock=clock)
    assert await restarted.reminder_timer.ring_due() == 2

    later = await told(restarted, after=int(first.id), most=2)
    assert [event.json["due_at"][11:16] for event in later] == ["23:50", "00:00"]
    assert int(first.id) < int(later[0].id) < int(later[1].id)
