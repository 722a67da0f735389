"""The user's account over HTTP: who asks, what they wish for, their tokens, and what each token allows."""

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from tertulia.assistant import Assistant
from tertulia.domain.accounts import EVERYTHING, Caller, Scope, digest_of
from tertulia.entrypoints.http.context import Surroundings
from tertulia.entrypoints.http.every_route import ROUTERS
from tertulia.entrypoints.http.scopes import scopes_for
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.http.clients import ANA, BEN, TWO_USERS, client_of, is_problem, wav

FROM_OUR_PAGE = {"Origin": "http://127.0.0.1:8000"}
OPEN = {
    ("GET", "/api/health"),
    ("GET", "/api/openapi.json"),
    ("POST", "/api/session"),
    ("PUT", "/api/uploads/{upload_id}"),
}
ROUTES = sorted(
    (method, route.path)
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in route.methods or ()
    if (method, route.path) not in OPEN
)


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def token_for(assistant: Assistant, user: str, *scopes: Scope) -> dict[str, str]:
    """Make a token and return the header that shows it."""
    made = await assistant.accounts.add_token(Caller(user=user), "a token", frozenset(scopes) or EVERYTHING)
    return bearing(made.secret)


@pytest.fixture
async def local(assistant: Assistant) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a laptop's server, where its owner needs no token."""
    async with client_of(assistant, Surroundings(visitor="user-1")) as client:
        yield client


async def test_everyone_learns_who_they_are_and_what_they_may_do(
    shared: httpx.AsyncClient, assistant: Assistant
) -> None:
    owner = {"user_id": "ana", "scopes": ["admin", "flows.write", "read", "turns"]}
    assert (await shared.get("/api/me", headers=ANA)).json() == owner
    some = await token_for(assistant, "cleo", Scope.READ, Scope.TURNS)
    assert (await shared.get("/api/me", headers=some)).json() == {"user_id": "cleo", "scopes": ["read", "turns"]}


async def test_a_token_is_made_used_listed_and_revoked(shared: httpx.AsyncClient) -> None:
    made = await shared.post("/api/me/tokens", headers=ANA, json={"name": " Kitchen\n radio ", "scopes": ["read"]})
    assert made.status_code == 201
    token = made.json().pop("token")
    assert re.fullmatch(r"tertulia_[\w-]{43}", token)
    assert made.json()["name"] == "Kitchen radio"
    assert made.json()["last_used_at"] is None

    assert (await shared.get("/api/me", headers=bearing(token))).json() == {"user_id": "ana", "scopes": ["read"]}

    listed = (await shared.get("/api/me/tokens", headers=ANA)).json()["tokens"]
    assert [each["id"] for each in listed] == [made.json()["id"]]
    assert listed[0]["last_used_at"] is not None
    assert token not in str(listed)
    assert digest_of(token) not in str(listed)

    assert (await shared.delete(f"/api/me/tokens/{listed[0]['id']}", headers=ANA)).status_code == 204
    assert is_problem(await shared.get("/api/me", headers=bearing(token)), 401, "unauthorized")
    assert (await shared.get("/api/me/tokens", headers=ANA)).json() == {"tokens": []}


async def test_a_token_without_wishes_reads_and_asks(shared: httpx.AsyncClient) -> None:
    for body in ({"name": "a"}, {"name": "a", "scopes": None}, {"name": "a", "scopes": ""}):
        made = await shared.post("/api/me/tokens", headers=ANA, json=body)
        assert made.json()["scopes"] == ["read", "turns"]


@pytest.mark.parametrize("token_id", ["0123456789abcdef", "x", "%00", "a" * 64, "é"])
async def test_a_token_that_is_not_there_is_not_found(shared: httpx.AsyncClient, token_id: str) -> None:
    assert is_problem(await shared.delete(f"/api/me/tokens/{token_id}", headers=ANA), 404, "not_found")


async def test_another_users_token_is_not_found_and_stays(shared: httpx.AsyncClient) -> None:
    made = (await shared.post("/api/me/tokens", headers=ANA, json={"name": "mine"})).json()

    assert is_problem(await shared.delete(f"/api/me/tokens/{made['id']}", headers=BEN), 404, "not_found")
    assert (await shared.get("/api/me/tokens", headers=BEN)).json() == {"tokens": []}
    assert (await shared.get("/api/me", headers=bearing(made["token"]))).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "invalid_request"),
        ({"name": ""}, 422, "invalid_value"),
        ({"name": " \n"}, 422, "invalid_value"),
        ({"name": "a" * 65}, 422, "invalid_value"),
        ({"name": "a\x00b"}, 422, "invalid_value"),
        ({"name": "a", "scopes": []}, 400, "invalid_request"),
        ({"name": "a", "scopes": ["everything"]}, 422, "invalid_value"),
        ({"name": "a", "scopes": "read"}, 400, "invalid_request"),
    ],
)
async def test_a_token_that_cannot_be_made_is_refused(
    shared: httpx.AsyncClient, body: dict[str, Any], status: int, code: str
) -> None:
    assert is_problem(await shared.post("/api/me/tokens", headers=ANA, json=body), status, code)
    assert (await shared.get("/api/me/tokens", headers=ANA)).json() == {"tokens": []}


async def test_nobody_gives_a_token_more_than_they_have(shared: httpx.AsyncClient, assistant: Assistant) -> None:
    admin = await token_for(assistant, "ana", Scope.ADMIN)

    refused = await shared.post("/api/me/tokens", headers=admin, json={"name": "a", "scopes": ["admin", "turns"]})

    assert is_problem(refused, 403, "forbidden")
    assert (await shared.post("/api/me/tokens", headers=admin, json={"name": "a", "scopes": ["admin"]})).is_success


async def test_there_is_an_end_to_tokens(shared: httpx.AsyncClient) -> None:
    made = [await shared.post("/api/me/tokens", headers=ANA, json={"name": "a"}) for _ in range(51)]

    assert [each.status_code for each in made] == [201] * 50 + [409]
    assert is_problem(made[-1], 409, "conflict")


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_every_route_is_open_to_its_scopes_and_to_no_other(
    shared: httpx.AsyncClient, assistant: Assistant, method: str, path: str
) -> None:
    address = re.sub(r"\{.*?\}", "0123456789abcdef", path)
    needed = scopes_for(method, path)
    # A stream that stays open says nothing more of scopes than the check before it.
    scopes = [scope for scope in Scope if not (path == "/api/events" and scope in needed)]
    for scope in scopes:
        response = await shared.request(method, address, headers=await token_for(assistant, "ana", scope))
        assert (response.status_code == 403) == (scope not in needed), (scope, response.text)
        if response.status_code == 403:
            assert is_problem(response, 403, "forbidden")
            assert all(word in response.json()["detail"] for word in needed)


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "/api/chat/conversations", "read"),
        ("POST", "/api/chat", "turns"),
        ("POST", "/api/voice", "turns"),
        ("DELETE", "/api/chat/conversations", "turns"),
        ("POST", "/api/tools/{name}", "turns"),
        ("GET", "/api/me", "read"),
        ("GET", "/api/me/settings", "read"),
        ("PUT", "/api/me/settings", "admin"),
        ("GET", "/api/me/tokens", "admin"),
        ("POST", "/api/me/tokens", "admin"),
        ("DELETE", "/api/me/tokens/{id}", "admin"),
        ("GET", "/api/messages", "read"),
    ],
)
def test_the_map_says_what_the_contract_says(method: str, path: str, scope: str) -> None:
    assert scopes_for(method, path) == {scope}


async def test_the_document_tells_each_routes_scopes(client: httpx.AsyncClient) -> None:
    paths = (await client.get("/api/openapi.json")).json()["paths"]
    for method, path in ROUTES:
        security = paths[path][method.lower()]["security"]
        assert security == [{"HTTPBearer": sorted(scopes_for(method, path))}, {"APIKeyCookie": sorted(scopes_for(method, path))}]  # fmt: skip


async def test_settings_are_unset_at_first_and_kept_for_their_user(shared: httpx.AsyncClient) -> None:
    unset = {
        "language": None,
        "timezone": None,
        "voice": None,
        "style": None,
        "retention_days": None,
        "daily_spend_microdollars": None,
        "keeps_audio": False,
    }
    wished = {
        "language": "pt-BR",
        "timezone": "America/Sao_Paulo",
        "voice": "autumn",
        "style": "screen",
        "retention_days": 90,
        "daily_spend_microdollars": 250_000,
        "keeps_audio": True,
    }
    assert (await shared.get("/api/me/settings", headers=ANA)).json() == unset
    assert (await shared.put("/api/me/settings", headers=ANA, json=wished)).json() == wished
    assert (await shared.get("/api/me/settings", headers=ANA)).json() == wished
    assert (await shared.get("/api/me/settings", headers=BEN)).json() == unset


async def test_settings_not_named_stay_and_null_unsets_one(shared: httpx.AsyncClient) -> None:
    await shared.put("/api/me/settings", headers=ANA, json={"language": "de", "retention_days": 7, "keeps_audio": True})
    changed = (await shared.put("/api/me/settings", headers=ANA, json={"retention_days": None, "voice": "troy"})).json()
    assert (changed["language"], changed["retention_days"], changed["voice"]) == ("de", None, "troy")
    changed = (await shared.put("/api/me/settings", headers=ANA, json={"language": "", "keeps_audio": None})).json()
    assert (changed["language"], changed["keeps_audio"], changed["voice"]) == (None, False, "troy")


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "not a language"},
        {"timezone": "Mars/Olympus"},
        {"style": "shouted"},
        {"retention_days": 8},
        {"retention_days": -1},
        {"daily_spend_microdollars": -1},
        {"voice": "x" * 129},
    ],
)
async def test_a_wrong_setting_changes_nothing(shared: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    await shared.put("/api/me/settings", headers=ANA, json={"language": "de"})
    refused = await shared.put("/api/me/settings", headers=ANA, json={"language": "fr"} | wrong)
    assert refused.status_code in {400, 422}, refused.text
    assert (await shared.get("/api/me/settings", headers=ANA)).json()["language"] == "de"


async def test_what_is_a_users_is_not_found_by_another(shared: httpx.AsyncClient, assistant: Assistant) -> None:
    cleo = await token_for(assistant, "cleo")
    taken = (await shared.post("/api/chat", headers=cleo, json={"text": "Hello"})).json()
    for headers, status in ((cleo, 200), (ANA, 404)):
        found = await shared.get(f"/api/chat/conversations/{taken['conversation_id']}", headers=headers)
        assert found.status_code == status


async def test_on_a_laptop_the_owner_needs_no_token_also_when_others_have_one(
    local: httpx.AsyncClient, assistant: Assistant
) -> None:
    ben = await token_for(assistant, "ben")
    assert (await local.get("/api/me")).json()["user_id"] == "user-1"
    assert (await local.get("/api/me", headers=ben)).json()["user_id"] == "ben"
    assert (await local.get("/api/me", headers=bearing("a-key-that-an-old-client-sends"))).json()["user_id"] == "user-1"


async def test_on_a_laptop_a_revoked_token_never_turns_into_the_owner(
    local: httpx.AsyncClient, assistant: Assistant
) -> None:
    ben = await token_for(assistant, "ben")
    token = ben["Authorization"].removeprefix("Bearer ")
    assert (await local.post("/api/session", json={"token": token}, headers=FROM_OUR_PAGE)).json()["user_id"] == "ben"
    assert (await local.get("/api/me")).json()["user_id"] == "ben"

    [kept] = await assistant.accounts.tokens("ben")
    await assistant.accounts.revoke("ben", kept.id)

    ended = await local.get("/api/me")
    assert is_problem(ended, 401, "unauthorized")
    assert 'tertulia_session=""' in ended.headers["set-cookie"]
    assert is_problem(await local.get("/api/me", headers=ben), 401, "unauthorized")
    assert is_problem(await local.post("/api/session", json={"token": token}), 401, "unauthorized")
    # The cookie is gone, and with it the user that the page had.
    assert (await local.get("/api/me")).json()["user_id"] == "user-1"


async def test_sessions_outlive_a_restart_and_stay_ended(make_assistant: MakeAssistant) -> None:
    async with client_of(make_assistant(), TWO_USERS) as client:
        await client.post("/api/session", json={"token": "token-of-ana"}, headers=FROM_OUR_PAGE)
        first = client.cookies.pop("tertulia_session")
        await client.post("/api/session", json={"token": "token-of-ana"}, headers=FROM_OUR_PAGE)
        second = client.cookies.pop("tertulia_session")
        await client.delete("/api/session", headers=FROM_OUR_PAGE | {"Cookie": f"tertulia_session={first}"})
    for own, found in ((TWO_USERS, 200), (Surroundings(users={"another": "ana"}), 401)):
        async with client_of(make_assistant(), own) as client:
            ended = await client.get("/api/me", headers={"Cookie": f"tertulia_session={first}"})
            going_on = await client.get("/api/me", headers={"Cookie": f"tertulia_session={second}"})
        assert is_problem(ended, 401, "unauthorized")
        assert going_on.status_code == found


async def test_a_session_lasts_thirty_days(make_assistant: MakeAssistant) -> None:
    clock = FakeClock()
    async with client_of(make_assistant(clock=clock), TWO_USERS) as client:
        begun = await client.post("/api/session", json={"token": "token-of-ana"}, headers=FROM_OUR_PAGE)
        session = {"Cookie": f"tertulia_session={client.cookies.get('tertulia_session')}"}
        assert "Max-Age=2592000" in begun.headers["set-cookie"]
        client.cookies.clear()
        clock.move(days=30, seconds=-1)
        assert (await client.get("/api/me", headers=session)).status_code == 200
        clock.move(seconds=1)
        assert is_problem(await client.get("/api/me", headers=session), 401, "unauthorized")


async def test_a_session_may_do_what_its_token_may(shared: httpx.AsyncClient, assistant: Assistant) -> None:
    reader = await token_for(assistant, "ana", Scope.READ)
    token = reader["Authorization"].removeprefix("Bearer ")
    await shared.post("/api/session", json={"token": token}, headers=FROM_OUR_PAGE)
    assert (await shared.get("/api/me")).json()["scopes"] == ["read"]
    assert is_problem(await shared.post("/api/chat", json={"text": "Hi"}, headers=FROM_OUR_PAGE), 403, "forbidden")


async def test_the_last_use_is_written_once_an_hour(make_assistant: MakeAssistant) -> None:
    clock = FakeClock()
    assistant = make_assistant(clock=clock)
    ben = await token_for(assistant, "ben")
    noted = []
    async with client_of(assistant, TWO_USERS) as client:
        for minutes in (1, 30, 31):
            clock.move(minutes=minutes)
            await client.get("/api/me", headers=ben)
            [kept] = await assistant.accounts.tokens("ben")
            noted.append(kept.last_used_at)
    assert noted[0] == noted[1] != noted[2] == clock.now()


async def test_the_users_settings_count_beside_turns_too(shared: httpx.AsyncClient) -> None:
    wished = {"language": "de", "timezone": "Europe/Berlin"}
    await shared.put("/api/me/settings", headers=ANA, json=wished)

    heard = await shared.post("/api/stt", headers=ANA, files={"audio": ("a.wav", wav())})
    asked = await shared.post("/api/stt", headers=ANA, files={"audio": ("a.wav", wav())}, data={"language": "fr"})
    others = await shared.post("/api/stt", headers=BEN, files={"audio": ("a.wav", wav())})
    time = await shared.post("/api/tools/current_time", headers=ANA, json={"arguments": {}})

    assert [answer.json()["language"] for answer in (heard, asked, others)] == ["de", "fr", "en-US"]
    assert "Europe/Berlin" in time.json()["result"]
