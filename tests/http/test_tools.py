"""Tools run without a model."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from tertulia.domain.effects import Effect
from tertulia.domain.errors import InvalidValue
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.http.clients import client_of, is_problem


@dataclass
class Hammer:
    """A tool that does what its test tells it."""

    outcome: ToolResult | Exception
    seconds: float = 0.0
    is_configured: bool = True
    seen: ToolContext | None = None

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name="hammer", description="Hits.", parameters={"type": "object"}, effect=Effect.NONE)

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        self.seen = context
        await asyncio.sleep(self.seconds)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


async def test_the_tools_are_listed(client: httpx.AsyncClient) -> None:
    tools = (await client.get("/api/tools")).json()["tools"]

    calculator = next(tool for tool in tools if tool["name"] == "calculator")
    assert set(calculator) == {"name", "description", "parameters", "configured", "service"}
    assert calculator["configured"]
    assert calculator["parameters"]["type"] == "object"


async def test_a_tool_tells_whether_it_is_set_up_and_who_does_its_work(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    keys = {"tavily_api_key": SecretStr("tvly-x"), "notion_api_key": SecretStr("ntn_x"), "notion_database_id": "d"}
    wanted = ("web_search", "add_todo", "complete_todo")
    told = []
    for known in (settings, settings.model_copy(update=keys)):
        async with client_of(make_assistant(known)) as client:
            tools = {tool["name"]: tool for tool in (await client.get("/api/tools")).json()["tools"]}
        told.append([(tools[name]["configured"], tools[name]["service"]) for name in wanted])

    assert told == [
        [(False, None), (True, "Tertulia"), (True, "Tertulia")],
        [(True, "Tavily"), (True, "Notion"), (True, "Notion")],
    ]


async def test_a_to_do_is_added_and_ticked_off_without_a_model(client: httpx.AsyncClient) -> None:
    async def run(tool: str, **arguments: object) -> dict[str, Any]:
        response = await client.post(f"/api/tools/{tool}", json={"arguments": arguments})
        answer: dict[str, Any] = response.json()
        return answer

    assert (await run("add_todo", title="Buy milk"))["ok"]
    assert "Buy milk" in (await run("list_todos"))["result"]
    assert (await run("complete_todo", todo="milk"))["result"] == "Done: Buy milk"
    assert (await run("list_todos"))["result"] == "Nothing is open."
    assert "Buy milk (done)" in (await run("list_todos", with_done=True))["result"]


async def test_a_tool_runs(client: httpx.AsyncClient) -> None:
    body = (await client.post("/api/tools/calculator", json={"arguments": {"expression": "6*7"}})).json()

    assert body["ok"]
    assert "42" in body["result"]
    assert body["ms"] >= 0


async def test_a_failure_that_a_tool_explains_is_an_answer(client: httpx.AsyncClient) -> None:
    body = (await client.post("/api/tools/calculator", json={"arguments": {"expression": "1/0"}})).json()

    assert not body["ok"]
    assert body["result"]


async def test_a_tool_that_breaks_leaks_nothing(make_assistant: MakeAssistant) -> None:
    async with client_of(make_assistant(tools=(Hammer(RuntimeError("key=abc")),))) as client:
        body = (await client.post("/api/tools/hammer", json={})).json()

    assert body["ok"] is False
    assert "abc" not in body["result"]


async def test_a_tool_that_takes_too_long_is_ended(make_assistant: MakeAssistant, settings: Settings) -> None:
    quick = settings.model_copy(update={"tool_seconds": 0.05})
    async with client_of(make_assistant(quick, tools=(Hammer(ToolResult(text="late"), seconds=5),))) as client:
        body = (await client.post("/api/tools/hammer", json={})).json()

    assert body["ok"] is False
    assert "0.05 seconds" in body["result"]


async def test_a_tool_without_its_key_says_so(make_assistant: MakeAssistant) -> None:
    hammer = Hammer(ToolResult(text="done"), is_configured=False)
    async with client_of(make_assistant(tools=(hammer,))) as client:
        listed = (await client.get("/api/tools")).json()["tools"]
        response = await client.post("/api/tools/hammer", json={})

    assert [tool["configured"] for tool in listed] == [False]
    assert is_problem(response, 503, "not_configured")
    assert hammer.seen is None


async def test_a_tools_own_refusal_has_its_status(make_assistant: MakeAssistant) -> None:
    async with client_of(make_assistant(tools=(Hammer(InvalidValue("Not that nail.")),))) as client:
        response = await client.post("/api/tools/hammer", json={})

    assert is_problem(response, 422, "invalid_value")


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("nothing", {}, 404, "not_found"),
        ("calculator%0A", {}, 404, "not_found"),
        ("calculator", {"arguments": "1+1"}, 400, "invalid_request"),
        ("calculator", {"arguments": [1]}, 400, "invalid_request"),
        ("calculator", {"conversation_id": "abc"}, 404, "not_found"),
        ("calculator", {"conversation_id": "A B"}, 422, "invalid_value"),
    ],
)
async def test_bad_tool_calls_are_refused(
    client: httpx.AsyncClient, path: str, body: dict[str, object], status: int, code: str
) -> None:
    assert is_problem(await client.post(f"/api/tools/{path}", json=body), status, code)
