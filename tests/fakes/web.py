"""Small servers that behave like Tavily and Brave: they find what they are told, fail as they are told, and keep what they were asked."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.vendor import serving

type Page = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An answer that is no result."""

    status: int
    body: Any = field(default_factory=lambda: {"detail": {"error": "the vendor's own words"}})
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Late:
    """An answer that comes too late."""

    seconds: float


@dataclass(frozen=True)
class Raw:
    """A body that nobody would expect."""

    text: str


type Said = Sequence[Page] | Refusal | Late | Raw

PAGES: tuple[Page, ...] = ({"title": "Moon", "url": "https://moon.example/", "text": "It is far."},)


class FakeEngine:
    """What both have in common."""

    path: str
    most_characters = 400
    most_words = 1_000

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.says: list[Said] = []
        self.queries: list[str] = []
        self.counts: list[int] = []
        self.keys: list[str] = []

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route(self.path, self._on_search, methods=["GET", "POST"])])

    async def _on_search(self, request: Request) -> Response:
        query, count, key = await self.read(request)
        self.queries.append(query)
        self.counts.append(count)
        self.keys.append(key)
        if not 1 <= len(query) <= self.most_characters or len(query.split()) > self.most_words:
            return JSONResponse({"detail": {"error": "Query is too long."}}, 400)
        said = self.says.pop(0) if self.says else PAGES
        match said:
            case Refusal(status=status, body=body, headers=headers):
                return JSONResponse(body, status, dict(headers))
            case Late(seconds=seconds):
                await asyncio.sleep(seconds)
                return JSONResponse(self.found(PAGES))
            case Raw(text=text):
                return Response(text)
        return JSONResponse(self.found(said))

    async def read(self, request: Request) -> tuple[str, int, str]:
        raise NotImplementedError

    def found(self, pages: Sequence[Page]) -> Any:
        raise NotImplementedError


class FakeTavily(FakeEngine):
    """Tavily."""

    path = "/search"

    async def read(self, request: Request) -> tuple[str, int, str]:
        body = await request.json()
        return body["query"], body["max_results"], request.headers["authorization"]

    def found(self, pages: Sequence[Page]) -> Any:
        results = [
            {"title": page["title"], "url": page["url"], "content": page["text"], "score": 0.9} for page in pages
        ]
        return {"query": self.queries[-1], "results": results, "images": [], "response_time": 0.1}


class FakeBrave(FakeEngine):
    """Brave."""

    path = "/res/v1/web/search"
    most_words = 50

    async def read(self, request: Request) -> tuple[str, int, str]:
        asked = request.query_params
        return asked["q"], int(asked["count"]), request.headers["x-subscription-token"]

    def found(self, pages: Sequence[Page]) -> Any:
        results = [{"title": page["title"], "url": page["url"], "description": page["text"]} for page in pages]
        return {"type": "search", **({"web": {"type": "search", "results": results}} if results else {})}


@pytest.fixture(scope="session")
def web_servers() -> Iterator[tuple[FakeTavily, str, FakeBrave, str]]:
    """Run both for all tests; give them with their addresses."""
    tavily, brave = FakeTavily(), FakeBrave()
    with serving(tavily) as there, serving(brave) as elsewhere:
        yield tavily, there, brave, elsewhere


@pytest.fixture
def fake_tavily(web_servers: tuple[FakeTavily, str, FakeBrave, str]) -> FakeTavily:
    """Give a Tavily that has forgotten the test before."""
    web_servers[0].forget()
    return web_servers[0]


@pytest.fixture
def fake_brave(web_servers: tuple[FakeTavily, str, FakeBrave, str]) -> FakeBrave:
    """Give a Brave that has forgotten the test before."""
    web_servers[2].forget()
    return web_servers[2]
