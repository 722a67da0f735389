"""A small server that behaves like Mem0's hosted service; it fails as it is told, and keeps what it was asked."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tertulia.adapters.mem0 import Mem0
from tertulia.settings import quiet_mem0
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import serving

KEY = "m0-test"


@dataclass(frozen=True)
class Fails:
    """An answer that is a failure."""

    status: int
    body: str = '{"detail": "the vendor\'s own words"}'
    headers: dict[str, str] = field(default_factory=dict)


class FakeMem0:
    """Stores what it is given; `ignores_filters` returns everybody's memories, as the service did once."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.deleted: list[str] = []
        self.fails: list[Fails] = []
        self.ignores_filters = False
        self.stores_in_the_back = False
        self.page_size: int | None = None

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/ping/", self._on_ping),
                Route("/v3/memories/add/", self._on_add, methods=["POST"]),
                Route("/v3/memories/", self._on_list, methods=["POST"]),
                Route("/v1/memories/{id}/", self._on_delete, methods=["DELETE"]),
            ]
        )

    def knows(self, user: str, *contents: str) -> None:
        for content in contents:
            self._store(user, content, {})

    def _store(self, user: str, content: str, metadata: dict[str, Any]) -> dict[str, Any]:
        entry = {
            "id": f"mem-{len(self.entries) + len(self.deleted)}",
            "memory": content,
            "user_id": user,
            "metadata": metadata,
            "created_at": "2030-05-01T08:00:00-07:00",
        }
        self.entries.append(entry)
        return entry

    async def _on_ping(self, request: Request) -> Response:
        return self._refused(request) or JSONResponse(
            {"status": "ok", "user_email": "me@example.org", "org_id": "org", "project_id": "project"}
        )

    async def _on_add(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        self.asked.append(body)
        entry = self._store(body["user_id"], body["messages"][0]["content"], body.get("metadata") or {})
        if self.stores_in_the_back:
            return JSONResponse({"message": "queued", "status": "PENDING", "event_id": "e1"})
        return JSONResponse({"results": [{"id": entry["id"], "event": "ADD", "memory": entry["memory"]}]})

    async def _on_list(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        self.asked.append(body)
        wanted = next((part["user_id"] for part in body["filters"]["AND"] if "user_id" in part), None)
        found = [each for each in self.entries if self.ignores_filters or each["user_id"] == wanted]
        page, size = int(request.query_params["page"]), self.page_size or int(request.query_params["page_size"])
        shown = found[(page - 1) * size : page * size]
        more = "next page" if len(found) > page * size else None
        return JSONResponse({"count": len(found), "next": more, "previous": None, "results": shown})

    async def _on_delete(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        wanted = request.path_params["id"]
        if wanted not in {each["id"] for each in self.entries}:
            return JSONResponse({"detail": "Memory not found!"}, 404)
        self.deleted.append(wanted)
        self.entries = [each for each in self.entries if each["id"] != wanted]
        return JSONResponse({"message": "Memory deleted successfully!"})

    def _refused(self, request: Request) -> Response | None:
        if request.headers.get("authorization") != f"Token {KEY}":
            return JSONResponse({"detail": "Given token not valid"}, 401)
        if not self.fails:
            return None
        failure = self.fails.pop(0)
        return PlainTextResponse(failure.body, failure.status, failure.headers, "application/json")


@pytest.fixture(scope="session")
def mem0_server() -> Iterator[tuple[FakeMem0, str]]:
    """Run one server for all tests."""
    server = FakeMem0()
    with serving(server) as address:
        yield server, address


@pytest.fixture
def fake_mem0(mem0_server: tuple[FakeMem0, str]) -> FakeMem0:
    """Give the server, which has forgotten the test before."""
    mem0_server[0].forget()
    return mem0_server[0]


@pytest.fixture
async def mem0(
    mem0_server: tuple[FakeMem0, str], fake_mem0: FakeMem0, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mem0]:
    """Connect to the server."""
    quiet_mem0(tmp_path_factory.mktemp("mem0"))
    vendor = Mem0(SecretStr(KEY), FakeClock(), mem0_server[1])
    yield vendor
    await vendor.close()
