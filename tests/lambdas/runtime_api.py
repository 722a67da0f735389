"""Lambda's Runtime API for one process: hands it invocations, and takes its answers as they come."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import uuid4

import h11

MOST_PAYLOAD_BYTES = 6_291_556
"""Of an event, and of an answer in one piece."""
PLACE = "/2018-06-01/runtime"


class FunctionFailed(Exception):
    """An invocation ended in a failure of the function."""

    def __init__(self, kind: str, payload: bytes) -> None:
        super().__init__(f"{kind}: {payload.decode(errors='replace')}")
        self.kind = kind
        self.payload = payload


def failure(kind: str, message: str) -> FunctionFailed:
    """Return a failure as Lambda itself tells it."""
    return FunctionFailed(kind, json.dumps({"errorType": kind, "errorMessage": message}).encode())


@dataclass
class Invocation:
    """One event on its way through a function."""

    event: bytes
    arn: str
    seconds: float
    id: str = field(default_factory=lambda: str(uuid4()))
    is_streaming: bool = False
    is_taken: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    _parts: asyncio.Queue[bytes | FunctionFailed | None] = field(default_factory=asyncio.Queue)

    def add(self, part: bytes) -> None:
        """Take a part of the answer."""
        self._parts.put_nowait(part)

    def end(self, failed: FunctionFailed | None = None) -> None:
        """End the answer, once."""
        if not self.is_over.is_set():
            self.is_taken.set()
            self.is_over.set()
            self._parts.put_nowait(failed)

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the answer as it comes; raises FunctionFailed where it breaks off."""
        while (part := await self._parts.get()) is not None:
            if isinstance(part, FunctionFailed):
                raise part
            yield part


class RuntimeApi:
    """The side of Lambda that a runtime talks to."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[Invocation] = asyncio.Queue()
        self.asked = asyncio.Event()
        """Set while the process asks for an invocation: Lambda freezes it then."""
        self.running: Invocation | None = None
        self.init_failure: FunctionFailed | None = None
        self.restored = False
        self.address = ""

    async def open(self) -> asyncio.Server:
        """Begin to listen."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = Talk(reader, writer)
        try:
            while request := await talk.request():
                await self._on(request, talk)
                talk.next()
        except (ConnectionError, h11.RemoteProtocolError):
            pass
        finally:
            writer.close()

    async def _on(self, request: h11.Request, talk: "Talk") -> None:
        place = request.target.decode().removeprefix(PLACE)
        if place == "/invocation/next":
            await self._hand_over(talk)
        elif place == "/init/error":
            body = b"".join([part async for part in talk.body()])
            self.init_failure = FunctionFailed(_header(request, "lambda-runtime-function-error-type"), body)
            await talk.answer(202)
        elif place == "/restore/next":
            self.restored = True
            await talk.answer(200)
        else:
            await self._take(request, place, talk)

    async def _hand_over(self, talk: "Talk") -> None:
        self.asked.set()
        invocation = self.running = await self.waiting.get()
        self.asked.clear()
        invocation.is_taken.set()
        head = {
            "Lambda-Runtime-Aws-Request-Id": invocation.id,
            "Lambda-Runtime-Deadline-Ms": str(int((time.time() + invocation.seconds) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.arn,
            "Lambda-Runtime-Trace-Id": "Root=1-674b0000-0123456789abcdef01234567;Parent=0123456789abcdef;Sampled=0",
        }
        await talk.answer(200, invocation.event, head)

    async def _take(self, request: h11.Request, place: str, talk: "Talk") -> None:
        invocation = self.running
        if invocation is None or place.split("/")[2:3] != [invocation.id]:
            return await talk.answer(400)
        if place.endswith("/error"):
            body = b"".join([part async for part in talk.body()])
            invocation.end(FunctionFailed(json.loads(body)["errorType"], body))
            return await talk.answer(202)
        if _header(request, "lambda-runtime-function-response-mode") == "streaming":
            invocation.is_streaming = True
            async for part in talk.body():
                invocation.add(part)
            await talk.answer(202)
            kind = dict(talk.trailers).get(b"lambda-runtime-function-error-type")
            return invocation.end(failure(kind.decode(), "") if kind else None)
        return await self._take_whole(invocation, talk)

    async def _take_whole(self, invocation: Invocation, talk: "Talk") -> None:
        body = b"".join([part async for part in talk.body()])
        if len(body) > MOST_PAYLOAD_BYTES:
            message = f"Response payload size exceeded maximum allowed payload size ({MOST_PAYLOAD_BYTES} bytes)."
            invocation.end(failure("Function.ResponseSizeTooLarge", message))
            return await talk.answer(413)
        invocation.add(body)
        await talk.answer(202)
        invocation.end()
        return None


class Talk:
    """The HTTP that a runtime speaks, over one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.SERVER)
        self.trailers: list[tuple[bytes, bytes]] = []

    async def request(self) -> h11.Request | None:
        """Return the next request; None when the process has closed the connection."""
        event = await self._event()
        return event if isinstance(event, h11.Request) else None

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body's parts as they come, then know its trailers."""
        while not isinstance(event := await self._event(), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                raise ConnectionResetError
            yield bytes(event.data)
        self.trailers = list(event.headers)

    async def answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        """Answer the request, whose body is read."""
        if self._http.their_state is h11.SEND_BODY:
            async for _ in self.body():
                pass
        told = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
        self._send(h11.Response(status_code=status, headers=list(told.items())))
        self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())
        await self._writer.drain()

    def next(self) -> None:
        """Be ready for the next request."""
        if self._http.our_state is h11.MUST_CLOSE:
            raise ConnectionResetError
        self._http.start_next_cycle()

    async def _event(self) -> h11.Event:
        while not isinstance(event := self._http.next_event(), h11.Event):
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self._reader.read(1 << 16))
        return event

    def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")


def _header(request: h11.Request, name: str) -> str:
    return dict(request.headers).get(name.encode(), b"").decode()
