"""Steps that wait for a yes, and the journal with its way back, over HTTP."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.domain.effects import Effect, UndoStep
from tertulia.domain.prompts import ToolCall, ToolResult, ToolSpec
from tertulia.domain.surfaces import Route
from tertulia.ports import ToolContext
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedClassifier, ScriptedModel
from tests.http.clients import ANA, BEN, TWO_USERS, client_of, is_problem
from tests.http.event_reader import events_in

NOWHERE = "01jzzzzzzzzzzzzzzzzzzzzzzz"


class Jar:
    """Puts things in or throws them out."""

    is_configured = True

    def __init__(self, name: str, effect: Effect, kept: list[str]) -> None:
        parameters = {"type": "object", "properties": {"what": {"type": "string"}}}
        self.spec = ToolSpec(name=name, description=name, parameters=parameters, effect=effect)
        self.kept = kept

    async def __call__(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        what = arguments["what"]
        if self.spec.name == "put":
            self.kept.append(what)
            undo = UndoStep(tool="throw", arguments={"what": what})
            return ToolResult(text=f"Put {what}", summary=f"Put {what}", undo=undo)
        if what not in self.kept:
            return ToolResult(text="It is not there.", ok=False)
        self.kept.remove(what)
        return ToolResult(text=f"Threw {what} out")


@pytest.fixture
def kept() -> list[str]:
    return ["milk"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def assistant(make_assistant: MakeAssistant, kept: list[str], clock: FakeClock) -> Assistant:
    """Return an assistant with a jar, whose model throws the milk out."""
    throw = ToolCall(id="c1", name="throw", arguments='{"what": "milk"}')
    return make_assistant(
        chat_model=ScriptedModel([[throw], ["So it is."]]),
        classifier=ScriptedClassifier(Route.CONTEXT),
        tools=(Jar("put", Effect.REVERSIBLE, kept), Jar("throw", Effect.DESTRUCTIVE, kept)),
        clock=clock,
    )


async def asked_for(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    response = await client.post("/api/tools/throw", json={"arguments": {"what": "milk"}, **fields})
    assert response.status_code == 409
    body: dict[str, Any] = response.json()
    assert body["code"] == "confirmation_required"
    assert body["detail"] == body["error"] == body["confirmation"]["question"]
    confirmation: dict[str, Any] = body["confirmation"]
    return confirmation


async def test_a_direct_call_that_destroys_is_asked_about_first(client: httpx.AsyncClient, kept: list[str]) -> None:
    asked = await asked_for(client)
    assert set(asked) == {"confirmation_id", "tool", "arguments", "question", "expires_at"}
    assert (asked["tool"], asked["arguments"], kept) == ("throw", {"what": "milk"}, ["milk"])

    response = await client.post(f"/api/confirmations/{asked['confirmation_id']}", json={"approve": True})

    body = response.json()
    assert (body["approved"], body["ok"], body["result"], kept) == (True, True, "Threw milk out", [])
    again = await client.post(f"/api/confirmations/{asked['confirmation_id']}", json={"approve": True})
    assert is_problem(again, 404, "not_found")


async def test_a_no_is_final(client: httpx.AsyncClient, kept: list[str]) -> None:
    path = f"/api/confirmations/{(await asked_for(client))['confirmation_id']}"

    body = (await client.post(path, json={"approve": False})).json()

    assert (body["approved"], body["ok"]) == (False, None)
    assert is_problem(await client.post(path, json={"approve": True}), 404, "not_found")
    assert kept == ["milk"]


async def test_after_five_minutes_it_is_too_late(client: httpx.AsyncClient, clock: FakeClock, kept: list[str]) -> None:
    path = f"/api/confirmations/{(await asked_for(client))['confirmation_id']}"
    clock.move(minutes=5)
    assert is_problem(await client.post(path, json={"approve": True}), 404, "not_found")
    assert kept == ["milk"]


async def test_another_user_cannot_say_yes(assistant: Assistant, kept: list[str]) -> None:
    async with client_of(assistant, TWO_USERS) as client:
        response = await client.post("/api/tools/throw", json={"arguments": {"what": "milk"}}, headers=ANA)
        path = f"/api/confirmations/{response.json()['confirmation']['confirmation_id']}"
        unknown = await client.post(f"/api/confirmations/{NOWHERE}", json={"approve": True}, headers=BEN)
        foreign = await client.post(path, json={"approve": True}, headers=BEN)
        assert is_problem(foreign, 404, "not_found")
        assert foreign.json()["detail"] == unknown.json()["detail"]
        assert kept == ["milk"]
        assert (await client.post(path, json={"approve": True}, headers=ANA)).status_code == 200


@pytest.mark.parametrize("body", [{}, {"approve": None}, {"approve": "maybe"}, []])
async def test_an_answer_that_is_none_is_refused(client: httpx.AsyncClient, kept: list[str], body: object) -> None:
    path = f"/api/confirmations/{(await asked_for(client))['confirmation_id']}"
    assert is_problem(await client.post(path, json=body), 400, "invalid_request")
    assert kept == ["milk"]


async def test_a_turn_that_asks_is_answered_by_a_press_and_the_conversation_knows(
    client: httpx.AsyncClient, kept: list[str], clock: FakeClock
) -> None:
    events = events_in((await client.post("/api/chat/stream", json={"text": "Throw the milk out"})).content)
    names = [event.name for event in events]
    assert names == ["route", "confirm", "token", "done"]
    asked, done = events[1].json, events[-1].json
    assert done["response"] == asked["question"]
    clock.move(seconds=1)
    await client.post(f"/api/confirmations/{asked['confirmation_id']}", json={"approve": True})
    assert kept == []

    conversation = (await client.get(f"/api/chat/conversations/{done['conversation_id']}")).json()
    said = [(message["role"], message["content"]) for message in conversation["messages"]]
    assert said[-3] == ("user", "Yes.")
    assert said[-1] == ("assistant", "Done: Threw milk out")


async def test_a_yes_in_words_answers_a_direct_call_in_a_conversation(
    client: httpx.AsyncClient, kept: list[str]
) -> None:
    first = (await client.post("/api/chat", json={"text": "@tools:put|['tea']"})).json()
    await asked_for(client, conversation_id=first["conversation_id"])
    await client.post("/api/chat", json={"text": "Yes", "conversation_id": first["conversation_id"]})
    assert kept == ["tea"]


async def test_changes_are_listed_newest_first_and_taken_back_once(
    client: httpx.AsyncClient, clock: FakeClock, kept: list[str]
) -> None:
    for what in ("tea", "eggs"):
        clock.move(seconds=1)
        assert (await client.post("/api/tools/put", json={"arguments": {"what": what}})).status_code == 200
    first = (await client.get("/api/actions", params={"limit": 1})).json()
    second = (await client.get("/api/actions", params={"limit": 1, "cursor": first["cursor"]})).json()
    [eggs], [tea] = first["actions"], second["actions"]
    assert (eggs["arguments"], tea["summary"], second["cursor"]) == ({"what": "eggs"}, "Put tea", None)
    assert eggs["can_be_undone"]

    body = (await client.post(f"/api/actions/{tea['id']}/undo")).json()

    assert (body["ok"], body["result"], kept) == (True, "Threw tea out", ["milk", "eggs"])
    assert body["action"]["undone_at"] is not None
    assert is_problem(await client.post(f"/api/actions/{tea['id']}/undo"), 409, "conflict")
    assert len((await client.get("/api/actions")).json()["actions"]) == 2


async def test_an_undo_that_fails_says_so_and_may_be_tried_again(client: httpx.AsyncClient, kept: list[str]) -> None:
    await client.post("/api/tools/put", json={"arguments": {"what": "tea"}})
    [tea] = (await client.get("/api/actions")).json()["actions"]
    kept.clear()
    body = (await client.post(f"/api/actions/{tea['id']}/undo")).json()
    assert (body["ok"], body["result"], body["action"]["can_be_undone"]) == (False, "It is not there.", True)


async def test_another_users_changes_are_not_there(assistant: Assistant) -> None:
    async with client_of(assistant, TWO_USERS) as client:
        await client.post("/api/tools/put", json={"arguments": {"what": "tea"}}, headers=ANA)
        [tea] = (await client.get("/api/actions", headers=ANA)).json()["actions"]
        assert (await client.get("/api/actions", headers=BEN)).json()["actions"] == []
        foreign = await client.post(f"/api/actions/{tea['id']}/undo", headers=BEN)
        unknown = await client.post(f"/api/actions/{NOWHERE}/undo", headers=BEN)
        assert is_problem(foreign, 404, "not_found")
        assert foreign.json()["detail"] == unknown.json()["detail"]


@pytest.mark.parametrize(("query", "code"), [({"cursor": "x"}, "invalid_value"), ({"limit": 0}, "invalid_value")])
async def test_a_bad_page_is_refused(client: httpx.AsyncClient, query: dict[str, Any], code: str) -> None:
    assert is_problem(await client.get("/api/actions", params=query), 422, code)
