"""Clients of the HTTP surface: in memory for most tests, over a real socket for streams and broken connections."""

import asyncio
import io
import socket
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from tertulia.assistant import Assistant
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.http.context import Surroundings

ADDRESS = "http://127.0.0.1:8000"
TWO_USERS = Surroundings(users={"token-of-ana": "ana", "token-of-ben": "ben"}, origins=("https://app.example",))
ANA: dict[str, str] = {"Authorization": "Bearer token-of-ana"}
BEN: dict[str, str] = {"Authorization": "Bearer token-of-ben"}


def client_of(assistant: Assistant, surroundings: Surroundings | None = None) -> httpx.AsyncClient:
    """Return a client in memory."""
    return client_of_app(create_app(assistant, surroundings=surroundings))


def client_of_app(app: FastAPI) -> httpx.AsyncClient:
    """Return a client in memory of any application."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ADDRESS)


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Serve an application on a loopback port and return a client of it."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=30) as client:
            while not server.started:
                await asyncio.sleep(0.01)
            yield client
    finally:
        server.should_exit = True
        await serving
        listener.close()


def is_problem(response: httpx.Response, status: int, code: str) -> bool:
    """Check everything that every failure promises."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert set(body) == {"type", "title", "status", "detail", "code", "request_id", "error"}
    assert body["status"] == status
    assert body["code"] == code, body
    assert isinstance(body["detail"], str)
    assert body["detail"] == body["error"] != ""
    assert body["request_id"] == response.headers["x-request-id"]
    return True


def wav(seconds: float = 0.5, rate: int = 16_000) -> bytes:
    """Return a silent recording."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(b"\0\0" * int(seconds * rate))
    return buffer.getvalue()


def seconds_of(data: bytes) -> float:
    """Return how long a WAV lasts; it must be one whole file."""
    assert data.count(b"RIFF") == 1
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    with wave.open(io.BytesIO(data)) as reader:
        return float(reader.getnframes() / reader.getframerate())


async def eventually(check: Any, seconds: float = 1.0) -> bool:
    """Wait until a check holds, at most so long."""
    for _ in range(int(seconds / 0.01)):
        if check():
            return True
        await asyncio.sleep(0.01)
    return bool(check())
