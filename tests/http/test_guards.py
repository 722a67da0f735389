"""Who may ask, from which page, under which name, and how much at once."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.http.context import Surroundings
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel
from tests.http.clients import ANA, BEN, TWO_USERS, client_of, is_problem, served

PAGE = {"Origin": "https://app.example"}
FROM_OUR_PAGE = {"Origin": "http://127.0.0.1:8000"}
HELLO = {"text": "Hello"}
PROTECTED = [
    ("POST", "/api/chat"),
    ("POST", "/api/chat/stream"),
    ("POST", "/api/chat/send"),
    ("POST", "/api/chat/send-with-file"),
    ("POST", "/api/voice"),
    ("POST", "/api/tts"),
    ("POST", "/api/stt"),
    ("POST", "/api/route"),
    ("GET", "/api/tools"),
    ("POST", "/api/tools/calculator"),
    ("POST", "/api/uploads"),
    ("GET", "/api/chat/conversations"),
    ("DELETE", "/api/chat/conversations"),
    ("GET", "/api/chat/conversations/abc"),
    ("GET", "/api/chat/conversations/abc/messages"),
    ("DELETE", "/api/chat/conversations/abc"),
    ("POST", "/api/turns/01k0000000000000000000000a/stop"),
    ("GET", "/api/turns/01k0000000000000000000000a/events"),
    ("GET", "/api/events"),
    ("GET", "/api/session"),
    ("DELETE", "/api/session"),
    ("GET", "/api/me"),
    ("GET", "/api/me/settings"),
    ("PUT", "/api/me/settings"),
    ("GET", "/api/me/tokens"),
    ("POST", "/api/me/tokens"),
    ("DELETE", "/api/me/tokens/0123456789abcdef"),
]


async def test_health_needs_no_token_and_says_when_the_server_is_ready(assistant: Assistant) -> None:
    async with client_of(assistant, TWO_USERS) as client:
        starting = await client.get("/api/health")
        assistant.is_ready = True
        ready = await client.get("/api/health")

    assert is_problem(starting, 503, "starting")
    assert int(starting.headers["retry-after"]) >= 1
    assert ready.json()["status"] == "ok"
    assert ready.json()["version"]


@pytest.mark.parametrize(("method", "path"), PROTECTED)
@pytest.mark.parametrize("token", [None, "Bearer wrong", "Bearer ", "Basic dG9rZW4tb2YtYW5h", "Bearer token-of-an"])
async def test_every_other_route_needs_a_valid_token(
    shared: httpx.AsyncClient, method: str, path: str, token: str | None
) -> None:
    body = {"text": "a", "message": "a", "purpose": "audio", "bytes": 1, "sha256": "0" * 64}
    response = await shared.request(
        method, path, json=body if method == "POST" else None, headers={"Authorization": token} if token else {}
    )

    assert is_problem(response, 401, "unauthorized")
    assert response.headers["www-authenticate"] == "Bearer"


async def test_a_token_names_its_user(shared: httpx.AsyncClient) -> None:
    assert (await shared.get("/api/session", headers=ANA)).json()["user_id"] == "ana"
    assert (await shared.get("/api/session", headers=BEN)).json()["user_id"] == "ben"


async def test_without_a_token_configured_the_local_server_serves_its_one_user(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/session")).json()["user_id"] == "user-1"
    assert (await client.get("/api/session", headers={"Authorization": "Bearer any"})).status_code == 200


async def test_in_the_cloud_nobody_is_served_without_a_token(make_assistant: MakeAssistant, settings: Settings) -> None:
    cloud = settings.model_copy(update={"profile": "aws"})
    async with client_of(make_assistant(), Surroundings.of(cloud)) as client:
        assert is_problem(await client.get("/api/session"), 401, "unauthorized")


async def test_a_page_gets_a_cookie_for_its_token(shared: httpx.AsyncClient) -> None:
    answer = await shared.post("/api/session", json={"token": "token-of-ana"}, headers=FROM_OUR_PAGE)

    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "token-of-ana" not in cookie
    assert (await shared.get("/api/session")).json()["user_id"] == "ana"
    assert (await shared.post("/api/chat", json=HELLO, headers=FROM_OUR_PAGE)).status_code == 200


async def test_a_write_with_a_cookie_must_come_from_a_page_of_ours(shared: httpx.AsyncClient) -> None:
    await shared.post("/api/session", json={"token": "token-of-ana"}, headers=FROM_OUR_PAGE)

    assert is_problem(await shared.post("/api/chat", json=HELLO), 403, "origin")
    assert is_problem(
        await shared.post("/api/chat", json=HELLO, headers={"Origin": "https://evil.example"}), 403, "origin"
    )


async def test_a_session_ends(shared: httpx.AsyncClient) -> None:
    await shared.post("/api/session", json={"token": "token-of-ana"}, headers=FROM_OUR_PAGE)
    session = shared.cookies["tertulia_session"]

    assert (await shared.delete("/api/session", headers=FROM_OUR_PAGE)).status_code == 204

    assert "tertulia_session" not in shared.cookies
    shared.cookies.set("tertulia_session", session)
    assert is_problem(await shared.get("/api/session"), 401, "unauthorized")


@pytest.mark.parametrize("session", ["x", "a.b.c.d", "...", "é", "0" * 5000])
async def test_a_made_up_session_is_nobodys(shared: httpx.AsyncClient, session: str) -> None:
    headers = {b"Cookie": f"tertulia_session={session}".encode()}

    assert is_problem(await shared.get("/api/session", headers=headers), 401, "unauthorized")


async def test_a_session_that_was_changed_is_nobodys(shared: httpx.AsyncClient) -> None:
    await shared.post("/api/session", json={"token": "token-of-ana"}, headers=FROM_OUR_PAGE)
    session = shared.cookies.pop("tertulia_session")
    shared.cookies.set("tertulia_session", session[:-1] + ("a" if session[-1] != "a" else "b"))

    assert is_problem(await shared.get("/api/session"), 401, "unauthorized")


@pytest.mark.parametrize("body", [{}, {"token": None}, {"token": 5}])
async def test_a_session_needs_a_token(shared: httpx.AsyncClient, body: dict[str, object]) -> None:
    assert is_problem(await shared.post("/api/session", json=body), 400, "invalid_request")
    assert is_problem(await shared.post("/api/session", json={"token": "wrong"}), 401, "unauthorized")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "",
        "[::1",
        "a b",
    ],
)
async def test_a_host_name_that_is_not_this_machines_is_refused(client: httpx.AsyncClient, host: str) -> None:
    assert is_problem(await client.get("/api/health", headers={"Host": host}), 403, "origin")
    assert is_problem(await client.get("/", headers={"Host": host}), 403, "origin")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "127.0.0.2", "[::1]:8000"])
async def test_loopback_is_this_machine(client: httpx.AsyncClient, host: str) -> None:
    assert (await client.get("/api/session", headers={"Host": host})).status_code == 200


async def test_configured_hosts_and_origins_are_welcome(make_assistant: MakeAssistant, settings: Settings) -> None:
    own = settings.model_copy(update={"allowed_hosts": ("tertulia.home",), "cors_origins": ("https://app.example",)})
    async with client_of(make_assistant(), Surroundings.of(own)) as client:
        assert (await client.get("/api/session", headers={"Host": "Tertulia.home:8000"})).status_code == 200
        assert (await client.post("/api/chat", json=HELLO, headers=PAGE)).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1:8000.evil.example"]
)
async def test_a_foreign_page_is_refused_before_anything_runs(make_assistant: MakeAssistant, origin: str) -> None:
    model = ScriptedModel()
    async with client_of(make_assistant(chat_model=model)) as client:
        response = await client.post("/api/chat", json=HELLO, headers={"Origin": origin})

    assert is_problem(response, 403, "origin")
    assert "access-control-allow-origin" not in response.headers
    assert model.prompts == []


async def test_a_foreign_page_is_refused_before_its_body_is_read(assistant: Assistant) -> None:
    was_read = False

    async def body() -> AsyncIterator[bytes]:
        nonlocal was_read
        was_read = True
        yield b"{}"

    async with client_of(assistant) as client:
        response = await client.post("/api/chat", content=body(), headers={"Origin": "https://evil.example"})

    assert is_problem(response, 403, "origin")
    assert not was_read


async def test_a_preflight_is_answered_before_the_token_is_asked_for(shared: httpx.AsyncClient) -> None:
    headers = PAGE | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}

    response = await shared.options("/api/chat", headers=headers)

    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://app.example"
    assert "authorization" in response.headers["access-control-allow-headers"].lower()


async def test_our_headers_are_shown_to_pages(shared: httpx.AsyncClient) -> None:
    response = await shared.post("/api/chat", json=HELLO, headers=ANA | PAGE)

    exposed = response.headers["access-control-expose-headers"]
    for name in ("X-Turn-Id", "X-Conversation-Id", "X-Route", "X-Transcript-Encoded", "X-Audio-Error", "Retry-After"):
        assert name in exposed


async def test_every_failure_carries_the_cross_origin_headers(make_assistant: MakeAssistant) -> None:
    """Case Y3."""
    broken = make_assistant(chat_model=ScriptedModel([[RuntimeError("key=abc")]]))
    own = Surroundings(visitor="ana", origins=("https://app.example",))
    app = create_app(broken, surroundings=own)

    @app.get("/api/broken")
    async def fails() -> None:
        raise RuntimeError("secret /etc/path")

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000") as client:
        answers = [
            (await client.get("/api/nowhere", headers=PAGE), 404, "not_found"),
            (await client.get("/nowhere", headers=PAGE), 404, "not_found"),
            (await client.post("/api/chat", content=b"{", headers=PAGE | {"Content-Type": "application/json"}), 400, "invalid_request"),
            (await client.post("/api/chat", json={"text": "a" * 1_100_000}, headers=PAGE), 413, "too_large"),
            (await client.get("/api/broken", headers=PAGE), 500, "internal"),
            (await client.put("/api/chat", headers=PAGE), 405, "invalid_request"),
        ]  # fmt: skip

    for response, status, code in answers:
        assert is_problem(response, status, code)
        assert response.headers["access-control-allow-origin"] == "https://app.example"
        assert "secret" not in response.text


async def test_another_method_is_told_which_there_are(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/chat")

    assert is_problem(response, 405, "invalid_request")
    assert response.headers["allow"] == "POST"


async def test_a_body_that_grows_too_long_is_refused_without_a_length(client: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b'{"text": "'
        for _ in range(30):
            yield b"a" * 100_000

    response = await client.post("/api/chat", content=endless(), headers={"Content-Type": "application/json"})

    assert is_problem(response, 413, "too_large")


async def test_a_large_form_sent_without_a_length_is_refused(client: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n'
        for _ in range(28):
            yield b"\0" * 1_000_000

    headers = {"Content-Type": "multipart/form-data; boundary=x"}

    assert is_problem(await client.post("/api/voice", content=endless(), headers=headers), 413, "too_large")


async def test_a_large_recording_is_refused_over_a_real_connection_and_the_next_request_works(
    assistant: Assistant,
) -> None:
    async with served(create_app(assistant)) as client:
        refused = await client.post("/api/voice", files={"audio": ("a.wav", b"\0" * 27_500_000)})
        answered = await client.post("/api/chat", json=HELLO)

    assert is_problem(refused, 413, "too_large")
    assert answered.status_code == 200


async def test_where_bodies_must_be_small_the_failure_names_the_other_way(make_assistant: MakeAssistant) -> None:
    """Case Y1: the body that a gateway could not carry."""
    own = Surroundings(visitor="ana", origins=("https://app.example",), most_body_bytes=4 * 1024 * 1024)
    async with client_of(make_assistant(), own) as client:
        files = {"file": ("big.txt", b"a" * 6_000_000)}
        response = await client.post("/api/chat/send-with-file", files=files, headers=PAGE)

    assert is_problem(response, 413, "too_large")
    assert "/api/uploads" in response.json()["detail"]
    assert response.headers["access-control-allow-origin"] == "https://app.example"


async def test_many_turns_at_once_are_all_answered(client: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(client.post("/api/chat", json=HELLO) for _ in range(12)))

    assert {answer.status_code for answer in answers} == {200}
    assert len({json.dumps(answer.json()["turn_id"]) for answer in answers}) == 12


async def test_the_page_and_its_parts_are_served(client: httpx.AsyncClient) -> None:
    page = await client.get("/")

    assert page.status_code == 200
    assert "<html" in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert (await client.get("/static/app.js")).status_code == 200
    assert is_problem(await client.get("/static/..%2fapp.py"), 404, "not_found")
