"""Who is let in by what is deployed: the shipped authorizer before the shipped functions."""

from collections.abc import Iterator

import httpx
import pytest

from tertulia.domain.accounts import Scope
from tests.http.clients import is_problem
from tests.lambdas.cloud import LocalCloud


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def api(local_cloud: LocalCloud) -> Iterator[httpx.Client]:
    """Yield a client of the deployment's API, which keeps no cookies of another test."""
    with httpx.Client(base_url=local_cloud.url, timeout=60, trust_env=False) as client:
        yield client


def told(response: httpx.Response) -> object:
    assert response.status_code < 300, response.text
    return response.json()


@pytest.mark.parametrize(
    "headers", [{}, bearing("tertulia_unknown"), {"Cookie": "tertulia_session=unknown"}, {"X-User": "ana"}]
)
def test_nobody_is_served_whom_nobody_knows(api: httpx.Client, headers: dict[str, str]) -> None:
    refused = api.get("/api/me", headers=headers)
    assert refused.status_code == 401
    assert refused.json()["code"] == "unauthorized"
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["www-authenticate"] == "Bearer"


def test_a_token_is_made_used_and_refused_as_soon_as_it_is_revoked(local_cloud: LocalCloud, api: httpx.Client) -> None:
    ana = bearing(local_cloud.token_of("ana"))
    made = api.post("/api/me/tokens", headers=ana, json={"name": "phone", "scopes": ["read"]}).json()
    phone = bearing(made["token"])
    assert told(api.get("/api/me", headers=phone)) == {"user_id": "ana", "scopes": ["read"]}
    assert is_problem(api.post("/api/chat", headers=phone, json={"text": "Hello"}), 403, "forbidden")
    assert api.delete(f"/api/me/tokens/{made['id']}", headers=phone).status_code == 403
    assert api.delete(f"/api/me/tokens/{made['id']}", headers=ana).status_code == 204
    assert api.get("/api/me", headers=phone).status_code == 401
    assert api.get("/api/me", headers=ana).status_code == 200


def test_each_user_has_their_own_conversations_and_settings(local_cloud: LocalCloud, api: httpx.Client) -> None:
    ana, ben = (bearing(local_cloud.token_of(user)) for user in ("ana", "ben"))
    assert told(api.put("/api/me/settings", headers=ana, json={"timezone": "Europe/Berlin"}))
    taken = api.post("/api/chat", headers=ana, json={"text": "Hello"}).json()
    place = f"/api/chat/conversations/{taken['conversation_id']}"
    assert api.get(place, headers=ana).status_code == 200
    assert is_problem(api.get(place, headers=ben), 404, "not_found")
    assert api.get("/api/me/settings", headers=ana).json()["timezone"] == "Europe/Berlin"
    assert api.get("/api/me/settings", headers=ben).json()["timezone"] is None


def test_a_page_gets_a_session_which_ends(local_cloud: LocalCloud, api: httpx.Client) -> None:
    token = local_cloud.token_of("ana", Scope.READ, Scope.TURNS)
    begun = api.post("/api/session", json={"token": token})
    assert begun.json()["user_id"] == "ana"
    session = {"Cookie": begun.headers["set-cookie"].partition(";")[0]}
    own = session | {"Origin": f"http://{api.base_url.netloc.decode()}"}
    api.cookies.clear()
    assert told(api.get("/api/me", headers=session)) == {"user_id": "ana", "scopes": ["read", "turns"]}
    assert is_problem(api.post("/api/route", headers=session, json={"text": "Hello"}), 403, "origin")
    assert told(api.post("/api/route", headers=own, json={"text": "Hello"}))
    assert api.delete("/api/session", headers=own).status_code == 204
    assert api.get("/api/me", headers=session).status_code == 401
