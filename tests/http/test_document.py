"""The OpenAPI document tells every route, shape and failure."""

import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.http.clients import is_problem

ROUTES = {
    ("get", "/api/health"),
    ("post", "/api/chat"),
    ("post", "/api/chat/stream"),
    ("post", "/api/chat/send"),
    ("post", "/api/chat/send-with-file"),
    ("post", "/api/voice"),
    ("post", "/api/stt"),
    ("post", "/api/tts"),
    ("post", "/api/route"),
    ("get", "/api/scenarios"),
    ("post", "/api/turns/{turn_id}/stop"),
    ("get", "/api/turns/{turn_id}/events"),
    ("get", "/api/tools"),
    ("post", "/api/tools/{name}"),
    ("post", "/api/confirmations/{id}"),
    ("get", "/api/actions"),
    ("post", "/api/actions/{id}/undo"),
    ("post", "/api/uploads"),
    ("put", "/api/uploads/{upload_id}"),
    ("get", "/api/chat/conversations"),
    ("delete", "/api/chat/conversations"),
    ("get", "/api/chat/conversations/{id}"),
    ("delete", "/api/chat/conversations/{id}"),
    ("patch", "/api/chat/conversations/{id}"),
    ("post", "/api/chat/conversations/{id}/summarize"),
    ("get", "/api/chat/search"),
    ("get", "/api/chat/conversations/{id}/messages"),
    ("post", "/api/session"),
    ("get", "/api/session"),
    ("delete", "/api/session"),
    ("get", "/api/me"),
    ("get", "/api/config/llm"),
    ("put", "/api/config/llm"),
    ("delete", "/api/config/llm"),
    ("get", "/api/config/llm/presets"),
    ("post", "/api/config/llm/presets/{name}/apply"),
    ("get", "/api/me/settings"),
    ("put", "/api/me/settings"),
    ("get", "/api/me/tokens"),
    ("post", "/api/me/tokens"),
    ("delete", "/api/me/tokens/{id}"),
    ("get", "/api/me/usage"),
    ("post", "/api/me/export"),
    ("delete", "/api/me"),
    ("get", "/api/me/jobs/{id}"),
    ("get", "/api/me/jobs/{id}/file"),
    ("get", "/api/memories"),
    ("post", "/api/memories"),
    ("put", "/api/memories"),
    ("get", "/api/memories/stats"),
    ("get", "/api/memories/{id}"),
    ("patch", "/api/memories/{id}"),
    ("delete", "/api/memories/{id}"),
    ("get", "/api/events"),
    ("get", "/api/reminders"),
    ("post", "/api/reminders"),
    ("delete", "/api/reminders/{id}"),
    ("post", "/api/reminders/{id}/snooze"),
    ("post", "/api/reminders/{id}/acknowledge"),
}
WITHOUT_TOKEN = {("get", "/api/health"), ("post", "/api/session"), ("put", "/api/uploads/{upload_id}")}
POSTS = [
    "/api/chat",
    "/api/chat/stream",
    "/api/chat/send",
    "/api/tts",
    "/api/route",
    "/api/uploads",
    "/api/memories",
    "/api/tools/calculator",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    ["text", "message", "conversation_id", "client_message_id", "language", "style", "timezone", "device_id", "voice",
     "speak", "attachments", "arguments", "purpose", "bytes", "sha256", "filename", "format"]
)  # fmt: skip


@pytest.fixture
async def document(client: httpx.AsyncClient) -> dict[str, Any]:
    """Return the document."""
    body: dict[str, Any] = (await client.get("/api/openapi.json")).json()
    return body


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


async def test_the_version_is_the_projects(document: dict[str, Any]) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]

    assert document["info"]["version"] == project["version"]


async def test_every_route_is_told(document: dict[str, Any]) -> None:
    assert set(operations(document)) == ROUTES


async def test_every_route_tells_its_failures_in_the_one_shape(document: dict[str, Any]) -> None:
    for route, operation in operations(document).items():
        failures = {status: answer for status, answer in operation["responses"].items() if int(status) >= 400}
        assert {"400", "403", "404", "405", "413", "422", "500"} <= set(failures), route
        assert ("401" in failures) == (route not in WITHOUT_TOKEN or route == ("post", "/api/session")), route
        for answer in failures.values():
            [kind] = answer["content"]
            assert kind == "application/problem+json", route
            assert answer["content"][kind]["schema"] == {"$ref": "#/components/schemas/Problem"}, route


async def test_every_answer_and_operation_is_described(document: dict[str, Any]) -> None:
    for route, operation in operations(document).items():
        assert operation["description"], route
        for status, answer in operation["responses"].items():
            assert answer["description"], (route, status)
        [success] = [answer for status, answer in operation["responses"].items() if int(status) < 400]
        assert "content" in success or route[0] in {"delete", "put"} or route[1].endswith(("/stop", "/summarize")), (
            route
        )


async def test_what_needs_a_token_says_so(document: dict[str, Any]) -> None:
    for route, operation in operations(document).items():
        assert ("security" in operation) == (route not in WITHOUT_TOKEN), route


async def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            return own + [found for value in node.values() for found in references(value)]
        return [found for value in node for found in references(value)] if isinstance(node, list) else []

    assert {reference.removeprefix("#/components/schemas/") for reference in references(document)} <= set(schemas)
    always = {"type", "title", "status", "detail", "code", "request_id", "error"}
    assert set(schemas["Problem"]["properties"]) == always | {"confirmation"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(POSTS), body=JSON | st.dictionaries(FIELDS, JSON, max_size=5))
async def test_whatever_is_sent_is_answered_as_documented(client: httpx.AsyncClient, path: str, body: object) -> None:
    response = await client.post(path, json=body)

    told = operations((await client.get("/api/openapi.json")).json())
    route = "/api/tools/{name}" if path.startswith("/api/tools") else path
    assert str(response.status_code) in told["post", route]["responses"], response.text
    assert response.status_code < 500, response.text
    assert response.status_code < 400 or is_problem(response, response.status_code, response.json()["code"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from([*POSTS, "/api/voice", "/api/stt", "/api/chat/send-with-file"]),
    body=st.binary(max_size=200),
    kind=st.sampled_from(
        ["application/json", "multipart/form-data; boundary=x", "multipart/form-data", "text/plain", ""]
    ),
)
async def test_whatever_bytes_are_sent_are_answered_without_a_crash(
    client: httpx.AsyncClient, path: str, body: bytes, kind: str
) -> None:
    response = await client.post(path, content=body, headers={"Content-Type": kind} if kind else {})

    assert response.status_code < 500, response.text
    assert response.status_code < 400 or is_problem(response, response.status_code, response.json()["code"])
