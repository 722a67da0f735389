"""A small server that behaves like Pinecone: one index, refusals like the real one's, and the lag after a write."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.vendor import serving

MOST_ID = 512
MOST_METADATA_BYTES = 40_960


class FakePinecone:
    """Keeps vectors; a new one shows only after `lag` more queries."""

    def __init__(self) -> None:
        self.address = ""
        self.forget()

    def forget(self) -> None:
        self.index: dict[str, Any] | None = a_description()
        self.vectors: dict[str, dict[str, Any]] = {}
        self.hidden: dict[str, int] = {}
        self.lag = 0
        self.forgets_filters = False
        self.failures: list[int] = []
        self.queries: list[dict[str, Any]] = []
        self.created: list[dict[str, Any]] = []

    @property
    def app(self) -> Starlette:
        posts = {
            "/indexes": self._on_create,
            "/vectors/upsert": self._on_upsert,
            "/query": self._on_query,
            "/vectors/delete": self._on_delete,
            "/vectors/update": self._on_update,
        }
        return Starlette(
            routes=[
                Route("/indexes/{name}", self._on_describe, methods=["GET"]),
                *(Route(path, handler, methods=["POST"]) for path, handler in posts.items()),
            ]
        )

    async def _on_describe(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        if self.index is None or request.path_params["name"] != self.index["name"]:
            return _error(404, "NOT_FOUND")
        return JSONResponse(self._described(request))

    async def _on_create(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        self.created.append(body)
        [field] = body["schema"]["fields"].values()
        self.index = a_description(body["name"], field["dimension"], field["metric"])
        return JSONResponse(self._described(request), 201)

    async def _on_upsert(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        vectors = (await request.json())["vectors"]
        for vector in vectors:
            if not vector["id"].isascii() or len(vector["id"]) > MOST_ID:
                return _error(400, "INVALID_ARGUMENT")
            if len(json.dumps(vector.get("metadata", {}), ensure_ascii=False).encode()) > MOST_METADATA_BYTES:
                return _error(400, "INVALID_ARGUMENT")
            self.vectors[vector["id"]] = vector
            self.hidden[vector["id"]] = self.lag
        return JSONResponse({"upsertedCount": len(vectors)})

    async def _on_query(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        self.queries.append(body)
        shown = [vector for name, vector in self.vectors.items() if self.hidden[name] <= 0]
        self.hidden = {name: left - 1 for name, left in self.hidden.items()}
        if not self.forgets_filters:
            shown = [vector for vector in shown if _fits(vector["metadata"], body.get("filter") or {})]
        matches = [
            {"id": vector["id"], "score": _dot(body["vector"], vector["values"]), "metadata": vector["metadata"]}
            for vector in shown
        ]
        matches.sort(key=lambda match: match["score"], reverse=True)
        return JSONResponse({"matches": matches[: body["topK"]], "namespace": "", "usage": {"readUnits": 1}})

    async def _on_delete(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        gone = set(body.get("ids") or ())
        if body.get("filter"):
            gone |= {name for name, vector in self.vectors.items() if _fits(vector["metadata"], body["filter"])}
        self.vectors = {name: vector for name, vector in self.vectors.items() if name not in gone}
        return JSONResponse({})

    async def _on_update(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        if vector := self.vectors.get(body["id"]):
            vector["metadata"] |= body["setMetadata"]
        return JSONResponse({})

    def _described(self, request: Request) -> dict[str, Any]:
        """Tell of the index in the words of the version asked for."""
        assert self.index is not None
        described = self.index | {"host": self.address}
        if "x-pinecone-api-version" not in request.headers:
            return described
        names = ("dimension", "metric")
        field = {"type": "dense_vector"} | {name: described.pop(name) for name in names}
        del described["vector_type"], described["spec"]
        deployment = {"deployment_type": "managed", "cloud": "aws", "region": "us-east-1", "environment": "aped"}
        return described | {"schema": {"fields": {"_values": field}}, "deployment": deployment}

    def _refused(self, request: Request) -> Response | None:
        if not request.headers.get("api-key", "").startswith("pcsk_"):
            return _error(401, "UNAUTHENTICATED")
        return _error(self.failures.pop(0), "UNKNOWN") if self.failures else None


def a_description(name: str = "conversations", dimension: int = 384, metric: str = "cosine") -> dict[str, Any]:
    return {
        "name": name,
        "dimension": dimension,
        "metric": metric,
        "vector_type": "dense",
        "deletion_protection": "disabled",
        "spec": {"serverless": {"cloud": "aws", "region": "us-east-1"}},
        "status": {"ready": True, "state": "Ready"},
    }


def _error(status: int, code: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": "the vendor's own words"}, "status": status}, status)


def _fits(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(metadata.get(name) == rule["$eq"] for name, rule in wanted.items())


def _dot(first: list[float], second: list[float]) -> float:
    return sum(one * other for one, other in zip(first, second, strict=True))


@pytest.fixture(scope="session")
def served_pinecone() -> Iterator[FakePinecone]:
    vendor = FakePinecone()
    with serving(vendor) as vendor.address:
        yield vendor


@pytest.fixture
def pinecone(served_pinecone: FakePinecone) -> FakePinecone:
    served_pinecone.forget()
    return served_pinecone
