"""A small server that behaves like Groq over real HTTP: it answers and fails as it is told, and keeps what it was asked."""

import asyncio
import json
import math
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

VOICES = ("autumn", "diana", "hannah", "austin", "daniel", "troy")
RATE = 24_000
LOGIN_PAGE = "<html>Please log in</html>"
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error as Groq sends it; the status does not matter inside a stream."""

    status: int = 500
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    failed_generation: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        error = {"message": "the vendor's own words", "type": "invalid_request_error", "code": self.code}
        return {"error": error | ({"failed_generation": self.failed_generation} if self.failed_generation else {})}


@dataclass(frozen=True, kw_only=True)
class Called:
    """A tool call, its arguments in the pieces in which they are streamed."""

    name: str
    pieces: tuple[str | None, ...] = ("{}",)
    id: str = "call_1"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A chat answer in the pieces in which it is streamed."""

    pieces: tuple[str, ...] = ("Hello", " there", ".")
    calls: tuple[Called, ...] = ()
    reasoning: str = ""
    ends_with: Failure | None = None
    """An error inside the stream, after the pieces."""
    breaks: bool = False
    """The connection is cut after the pieces."""
    garbled: bool = False
    """Instead of events comes a web page, as a captive portal sends it."""
    seconds_to_first: float | None = None
    """Instead of the server's own delay."""


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A transcription with its segments."""

    text: str = "What is the capital of France?"
    language: str = "English"
    duration: float = 1.5
    segments: tuple[Mapping[str, Any], ...] = ()
    garbled: bool = False


@dataclass(frozen=True, kw_only=True)
class Delays:
    """How long the server takes, in seconds."""

    first_token: float = 0.0
    token: float = 0.0
    hearing: float = 0.0
    speech: float = 0.0
    speech_a_character: float = 0.0


@dataclass(frozen=True)
class Asked:
    """A request as it came: a JSON body, or the fields of a form with its file."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    file_name: str = ""
    file: bytes = b""


type Chatted = Answer | Failure


class FakeGroq:
    """Answers by its scripts while they last, then by the given rules."""

    def __init__(
        self,
        chat: Callable[[Mapping[str, Any]], Chatted] = lambda body: Answer(),
        hear: Callable[[Asked], Heard | Failure] = lambda asked: Heard(),
        delays: Delays | None = None,
    ) -> None:
        self.chat, self._hear, self._delays = chat, hear, delays or Delays()
        self.forget()

    def forget(self) -> None:
        """Empty the scripts and what was asked."""
        self.chats: list[Chatted] = []
        self.hearings: list[Heard | Failure] = []
        self.speeches: list[Failure | bytes] = []
        self.asked: dict[str, list[Asked]] = {"chat": [], "hearing": [], "speech": []}
        self.left = 0
        """How many clients left before their stream ended."""

    @property
    def app(self) -> Starlette:
        """The server's routes, as Groq has them."""
        return Starlette(
            routes=[
                Route("/openai/v1/chat/completions", self._on_chat, methods=["POST"]),
                Route("/openai/v1/audio/transcriptions", self._on_hearing, methods=["POST"]),
                Route("/openai/v1/audio/speech", self._on_speech, methods=["POST"]),
            ]
        )

    async def _on_chat(self, request: Request) -> Response:
        body = await request.json()
        self.asked["chat"].append(Asked(body, dict(request.headers)))
        said = self.chats.pop(0) if self.chats else self.chat(body)
        if refused := await self._refused(request, said):
            return refused
        assert isinstance(said, Answer)
        if said.garbled:
            return HTMLResponse(LOGIN_PAGE)
        if body.get("stream"):
            return StreamingResponse(self._streamed(request, body, said), media_type="text/event-stream")
        await asyncio.sleep(self._first(said) + self._delays.token * len(said.pieces))
        return JSONResponse(_whole(body["model"], said))

    async def _on_hearing(self, request: Request) -> Response:
        async with request.form() as form:
            file = form["file"]
            assert isinstance(file, UploadFile)
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            asked = Asked(fields, dict(request.headers), file.filename or "", await file.read())
        self.asked["hearing"].append(asked)
        said = self.hearings.pop(0) if self.hearings else self._hear(asked)
        await asyncio.sleep(self._delays.hearing)
        if refused := await self._refused(request, said):
            return refused
        assert isinstance(said, Heard)
        if said.garbled:
            return HTMLResponse(LOGIN_PAGE)
        details = {"task": "transcribe", "language": said.language, "duration": said.duration}
        return JSONResponse({"text": said.text, "segments": list(said.segments), **details})

    async def _on_speech(self, request: Request) -> Response:
        body = await request.json()
        self.asked["speech"].append(Asked(body, dict(request.headers)))
        said = self.speeches.pop(0) if self.speeches else _speech(body)
        await asyncio.sleep(self._delays.speech + self._delays.speech_a_character * len(body["input"]))
        if refused := await self._refused(request, said):
            return refused
        assert isinstance(said, bytes)
        return Response(said, media_type="audio/wav")

    async def _refused(self, request: Request, said: object) -> Response | None:
        if not request.headers.get("authorization", "").startswith(("Bearer gsk_", "Bearer sk-")):
            return JSONResponse(Failure(code="invalid_api_key").as_json(), 401)
        if not isinstance(said, Failure):
            return None
        await asyncio.sleep(said.seconds)
        return JSONResponse(said.as_json(), said.status, dict(said.headers))

    async def _streamed(self, request: Request, body: Mapping[str, Any], said: Answer) -> AsyncIterator[str]:
        ended, model = False, body["model"]
        try:
            await asyncio.sleep(self._first(said))
            for place, chunk in enumerate(_chunks(model, said)):
                await asyncio.sleep(self._delays.token if place else 0)
                if await request.is_disconnected():
                    return
                yield _event(chunk)
            ended = True
            if said.breaks:
                raise ConnectionAbortedError
            yield _event(said.ends_with.as_json()) if said.ends_with else _ending(model, body)
        finally:
            self.left += not ended

    def _first(self, said: Answer) -> float:
        return self._delays.first_token if said.seconds_to_first is None else said.seconds_to_first


def _chunks(model: str, said: Answer) -> Iterator[dict[str, Any]]:
    if said.reasoning:
        yield _chunk(model, {"role": "assistant", "reasoning": said.reasoning})
    for piece in said.pieces:
        yield _chunk(model, {"role": "assistant", "content": piece})
    for index, call in enumerate(said.calls):
        for place, arguments in enumerate(call.pieces):
            function = {"name": None if place else call.name, "arguments": arguments}
            opening = {} if place else {"id": call.id, "type": "function"}
            yield _chunk(model, {"tool_calls": [{"index": index, "function": function, **opening}]})


def _chunk(model: str, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}


def _last(model: str) -> dict[str, Any]:
    return _chunk(model, {}, "stop") | {"x_groq": {"id": "req_1", "usage": USAGE}}


def _ending(model: str, body: Mapping[str, Any]) -> str:
    """Count the tokens as Groq does and, where they are asked for, as OpenAI does."""
    wanted = (body.get("stream_options") or {}).get("include_usage")
    counted = _event(_chunk(model, {}) | {"choices": [], "usage": USAGE}) if wanted else ""
    return _event(_last(model)) + counted + "data: [DONE]\n\n"


def _whole(model: str, said: Answer) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": "".join(map(str, call.pieces))},
        }
        for call in said.calls
    ]
    message = {"role": "assistant", "content": "".join(said.pieces)} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model} | {
        "choices": [choice],
        "usage": USAGE,
    }


def _event(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _speech(body: Mapping[str, Any]) -> Failure | bytes:
    if not 1 <= len(body["input"]) <= 200 or body["voice"] not in VOICES or body.get("response_format") != "wav":
        return Failure(status=400, code="invalid_request")
    return streamed_wav(len(body["input"]) * RATE // 100)


def streamed_wav(samples: int, rate: int = RATE) -> bytes:
    """Make a tone in a WAV whose writer knew no length: sizes FFFFFFFF, and a chunk of 17 bytes before the samples."""
    tone = b"".join(struct.pack("<h", int(8000 * math.sin(at * math.tau * 440 / rate))) for at in range(samples))
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 0xFFFFFFFF, b"WAVE", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    return head + struct.pack("<4sI", b"LIST", 17) + bytes(18) + struct.pack("<4sI", b"data", 0xFFFFFFFF) + tone


class Vendor(Protocol):
    """Any small server."""

    @property
    def app(self) -> Starlette: ...


@contextmanager
def serving(vendor: Vendor, host: str = "127.0.0.1") -> Iterator[str]:
    """Run the server in a thread on a free port, of loopback unless told otherwise, and give its address."""
    # Named as TCP, or asyncio does not turn off Nagle's algorithm and every answer on a kept connection waits 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind((host, 0))
        server = uvicorn.Server(uvicorn.Config(vendor.app, log_level=60, lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        yield f"http://{host}:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()
