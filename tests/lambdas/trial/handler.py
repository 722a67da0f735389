"""A function of the tests' own: it answers as it is asked to, through the product's own way in."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from tertulia.domain.errors import NotFound
from tertulia.entrypoints.aws import http_handler

router = APIRouter()


@router.api_route("/api/echo/{name:path}", methods=["GET", "POST", "PUT"])
async def echo(name: str, request: Request) -> dict[str, object]:
    """Tell what came."""
    body = await request.body()
    return {
        "name": name,
        "sha256": hashlib.sha256(body).hexdigest(),
        "cookies": request.cookies,
        "query": request.query_params.multi_items(),
        "headers": request.headers.getlist("x-several"),
        "client": request.client.host if request.client else None,
    }


@router.get("/api/bytes")
async def all_bytes() -> Response:
    """Send every byte there is, with two cookies."""
    response = Response(bytes(range(256)) * 8, media_type="application/octet-stream")
    response.set_cookie("one", "1", httponly=True, samesite="strict")
    response.set_cookie("two", "2; and=more")
    return response


@router.get("/api/large")
async def large(size: int, kind: str = "text/plain") -> Response:
    """Send as much as is asked for."""
    return Response(b"x" * size, media_type=kind)


@router.get("/api/slow")
async def slow(seconds: float) -> str:
    """Take a while."""
    await asyncio.sleep(seconds)
    return "done"


@router.get("/api/broken")
async def broken() -> str:
    """Fail as nobody foresaw."""
    raise RuntimeError("a key like gsk_1234567890")


@router.get("/api/missing")
async def missing() -> str:
    """Fail in our own words."""
    raise NotFound


@router.get("/api/events")
async def events(number: int = 5, pause: float = 0.0, fail_at: int = -1, left_running: float = 0.0) -> Response:
    """Send a number of events, or break off at one; leave something running behind."""

    async def sending() -> AsyncIterator[str]:
        for place in range(number):
            if place == fail_at:
                raise RuntimeError("a key like gsk_1234567890")
            yield f"data: {place}\n\n"
            await asyncio.sleep(pause)

    if left_running:
        background.add(asyncio.create_task(_later(left_running)))
    response = StreamingResponse(sending(), media_type="text/event-stream")
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


@router.get("/api/voice")
async def sound(size: int) -> Response:
    """Send sound of a size."""
    return Response(base64.b64decode(b"AAEC/w==") * (size // 4), media_type="audio/wav")


@router.get("/api/finished")
async def finished() -> int:
    """Tell how much of what was left running has ended."""
    return len(ended)


async def _later(seconds: float) -> None:
    await asyncio.sleep(seconds)
    ended.append(seconds)


background: set[asyncio.Task[None]] = set()
ended: list[float] = []

handler = http_handler(router)
