"""A small server that behaves like Notion's API 2025-09-03: one database, its data sources, rows, pages and a trash."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.vendor import serving

DATABASE = "11111111-1111-1111-1111-111111111111"
FIRST = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
SECOND = "bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb"
KEY = "ntn_test"
VERSION = "2025-09-03"

type Schema = dict[str, dict[str, Any]]

TITLE: dict[str, Any] = {"id": "title", "type": "title", "title": {}}
CHECKBOX: dict[str, Any] = {"id": "c1", "type": "checkbox", "checkbox": {}}


def states(kind: str, *names: str, complete: int = 1, last_group: str = "Complete") -> dict[str, Any]:
    """Make a column of states, the last `complete` of which are in the group of what is complete."""
    options = [{"id": f"o{place}", "name": name, "color": "default"} for place, name in enumerate(names)]
    column: dict[str, Any] = {"options": options}
    if kind == "status":
        ids = [option["id"] for option in options]
        column["groups"] = [
            {"id": "g1", "name": "To-do", "option_ids": ids[: len(ids) - complete]},
            {"id": "g2", "name": "In progress", "option_ids": []},
            {"id": "g3", "name": last_group, "option_ids": ids[len(ids) - complete :]},
        ]
    return {"id": "s%3Aa", "type": kind, kind: column}


STATUS = states("status", "Not started", "In progress", "Done")


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error as Notion sends it."""

    status: int
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: str = ""
    at: str = ""
    """The method and a part of the path that it waits for, such as `PATCH /blocks/`."""


def refused(status: int, code: str) -> JSONResponse:
    """Answer with an error."""
    body = {"object": "error", "status": status, "code": code, "message": "the vendor's own words", "request_id": "r1"}
    return JSONResponse(body, status)


class FakeNotion:
    """Holds rows; fails as it is told."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.schemas: dict[str, Schema] = {FIRST: {"Name": dict(TITLE), "Status": STATUS}}
        self.pages: dict[str, dict[str, Any]] = {}
        self.blocks: dict[str, list[str]] = {}
        self.fails: list[Refusal] = []
        self.asked: list[str] = []
        self.block_counts: list[int] = []
        self.seconds = 0.0

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/databases/{id}", self._guarded(self._database)),
                Route("/v1/databases/{id}/query", self._guarded(self._old_query), methods=["POST"]),
                Route("/v1/data_sources/{id}", self._guarded(self._data_source)),
                Route("/v1/data_sources/{id}/query", self._guarded(self._query), methods=["POST"]),
                Route("/v1/pages", self._guarded(self._create), methods=["POST"]),
                Route("/v1/pages/{id}", self._guarded(self._page), methods=["GET", "PATCH"]),
                Route("/v1/blocks/{id}/children", self._guarded(self._append), methods=["PATCH"]),
            ]
        )

    def _guarded(self, answer: Any) -> Any:
        async def guard(request: Request) -> Response:
            asked = f"{request.method} {request.url.path.removeprefix('/v1')}"
            self.asked.append(asked)
            await asyncio.sleep(self.seconds)
            if request.headers.get("authorization") != f"Bearer {KEY}":
                return refused(401, "unauthorized")
            if request.headers.get("notion-version") != VERSION:
                return refused(400, "missing_version")
            for fails in self.fails:
                if all(part in asked for part in fails.at.split()):
                    self.fails.remove(fails)
                    if fails.raw:
                        return Response(fails.raw, fails.status)
                    answered = refused(fails.status, fails.code)
                    answered.headers.update(fails.headers)
                    return answered
            done: Response = await answer(request)
            return done

        return guard

    def row(self, title: str, *, trashed: bool = False, source: str = FIRST, **columns: Any) -> str:
        """Put a row there; columns by name, such as `Status="Done"`."""
        schema = self.schemas[source]
        page_id = str(uuid4())
        properties: dict[str, Any] = {}
        for name, column in schema.items():
            kind = column["type"]
            if kind == "title":
                # Notion splits a title wherever its look changes.
                pieces = [title[:3], title[3:]]
                properties[name] = {
                    "id": "title",
                    "type": "title",
                    "title": [{"plain_text": piece} for piece in pieces],
                }
            elif kind == "checkbox":
                properties[name] = {"id": column["id"], "type": kind, kind: columns.get(name, False)}
            else:
                default = column[kind]["options"][0]["name"] if kind == "status" else None
                state = columns.get(name, default)
                properties[name] = {"id": column["id"], "type": kind, kind: {"name": state} if state else None}
        parent = {"type": "data_source_id", "data_source_id": source, "database_id": DATABASE}
        trash = {"archived": trashed, "in_trash": trashed}
        self.pages[page_id] = {"object": "page", "id": page_id, "parent": parent, "properties": properties, **trash}
        return page_id

    def value(self, page_id: str, column: str) -> Any:
        """Return what a row holds in a column of states or a checkbox."""
        held = self.pages[page_id]["properties"][column]
        return held["checkbox"] if held["type"] == "checkbox" else (held[held["type"]] or {}).get("name")

    async def _database(self, request: Request) -> Response:
        if request.path_params["id"] != DATABASE:
            return refused(404, "object_not_found")
        sources = [{"id": source, "name": f"ds{place}"} for place, source in enumerate(self.schemas, 1)]
        return JSONResponse({"object": "database", "id": DATABASE, "data_sources": sources})

    async def _old_query(self, request: Request) -> Response:
        return refused(400, "invalid_request_url")

    async def _data_source(self, request: Request) -> Response:
        schema = self.schemas.get(request.path_params["id"])
        if schema is None:
            return refused(404, "object_not_found")
        return JSONResponse({"object": "data_source", "id": request.path_params["id"], "properties": schema})

    async def _query(self, request: Request) -> Response:
        source, body = request.path_params["id"], await request.json()
        if source not in self.schemas:
            return refused(404, "object_not_found")
        rows = [page for page in self.pages.values() if page["parent"]["data_source_id"] == source]
        for condition in _conditions(body.get("filter")):
            if condition["property"] not in self.schemas[source]:
                return refused(400, "validation_error")
            rows = [page for page in rows if _fits(page["properties"][condition["property"]], condition)]
        size = min(body.get("page_size", 100), 100)
        start = int(body.get("start_cursor", "0"))
        more = start + size < len(rows)
        cursor = str(start + size) if more else None
        page = {"object": "list", "results": rows[start : start + size], "has_more": more, "next_cursor": cursor}
        return JSONResponse(page)

    async def _create(self, request: Request) -> Response:
        body = await request.json()
        source = body["parent"]["data_source_id"]
        schema = self.schemas.get(source)
        if schema is None:
            return refused(404, "object_not_found")
        [(name, value)] = body["properties"].items()
        if schema.get(name, {}).get("type") != "title" or not _blocks_are_fine(body.get("children", [])):
            return refused(400, "validation_error")
        page_id = self.row("".join(piece["text"]["content"] for piece in value["title"]), source=source)
        self._keep(page_id, body.get("children", []))
        return JSONResponse(self.pages[page_id])

    async def _page(self, request: Request) -> Response:
        page = self.pages.get(request.path_params["id"])
        if page is None:
            return refused(404, "object_not_found")
        if request.method == "PATCH":
            body = await request.json()
            for name, value in body.get("properties", {}).items():
                schema = self.schemas[page["parent"]["data_source_id"]].get(name)
                if schema is None or not _is_known(schema, value):
                    return refused(400, "validation_error")
                page["properties"][name] = {"id": schema["id"], "type": schema["type"], **value}
            if "in_trash" in body:
                page |= {"in_trash": body["in_trash"], "archived": body["in_trash"]}
        return JSONResponse(page)

    async def _append(self, request: Request) -> Response:
        children = (await request.json())["children"]
        if request.path_params["id"] not in self.pages or not _blocks_are_fine(children):
            return refused(400, "validation_error")
        self._keep(request.path_params["id"], children)
        return JSONResponse({"object": "list", "results": []})

    def _keep(self, page_id: str, children: list[Any]) -> None:
        if children:
            self.block_counts.append(len(children))
        texts = ["".join(piece["text"]["content"] for piece in each["paragraph"]["rich_text"]) for each in children]
        self.blocks.setdefault(page_id, []).extend(texts)


def _conditions(wanted: Any) -> list[Any]:
    return list(wanted.get("and", [wanted])) if wanted else []


def _fits(held: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    if "checkbox" in condition:
        return bool(held["checkbox"] is condition["checkbox"]["equals"])
    [kind] = [kind for kind in ("status", "select") if kind in condition]
    return bool((held[kind] or {}).get("name") != condition[kind]["does_not_equal"])


def _is_known(schema: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    kind = schema["type"]
    if set(value) != {kind}:
        return False
    if kind == "checkbox" or value[kind] is None:
        return bool(kind != "status")
    return bool(value[kind]["name"] in {option["name"] for option in schema[kind]["options"]})


def _blocks_are_fine(children: list[Any]) -> bool:
    texts = [piece["text"]["content"] for each in children for piece in each["paragraph"]["rich_text"]]
    return len(children) <= 100 and all(len(text.encode("utf-16-le")) // 2 <= 2_000 for text in texts)


@pytest.fixture(scope="session")
def notion_server() -> Iterator[tuple[FakeNotion, str]]:
    """Run one server for all tests; give it with its address."""
    server = FakeNotion()
    with serving(server) as address:
        yield server, address


@pytest.fixture
def fake_notion(notion_server: tuple[FakeNotion, str]) -> FakeNotion:
    """Give the server, which has forgotten the test before."""
    notion_server[0].forget()
    return notion_server[0]
