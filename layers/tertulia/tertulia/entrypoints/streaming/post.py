"""The answer to one invocation, posted to Lambda's Runtime API as it is made."""

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

CONTENT_TYPE = "application/vnd.awslambda.http-integration-response"
PRELUDE_END = bytes(8)
"""Between what is told about the response and its body."""
ERROR_TYPE = "Lambda-Runtime-Function-Error-Type"
ERROR_BODY = "Lambda-Runtime-Function-Error-Body"


class PostRefused(Exception):
    """The Runtime API did not take the answer."""


@dataclass
class Post:
    """One HTTP request with a body in chunks; each is on its way before the next is taken."""

    address: str
    invoke_id: str
    invocation_id: str | None = None
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None, init=False)

    async def begin(self, prelude: Mapping[str, Any]) -> None:
        """Send the head, and what is told about the response."""
        host, _, port = self.address.partition(":")
        self._streams = await asyncio.open_connection(host, int(port or 80))
        head = {
            "Host": self.address,
            "Content-Type": CONTENT_TYPE,
            "Lambda-Runtime-Function-Response-Mode": "streaming",
            "Transfer-Encoding": "chunked",
            "Trailer": f"{ERROR_TYPE}, {ERROR_BODY}",
        }
        if self.invocation_id:
            head["Lambda-Runtime-Invocation-Id"] = self.invocation_id
        lines = [f"POST /2018-06-01/runtime/invocation/{self.invoke_id}/response HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in head.items()]
        await self._send("\r\n".join([*lines, "", ""]).encode() + _chunk(json.dumps(prelude).encode() + PRELUDE_END))

    async def write(self, data: bytes) -> None:
        """Send a part of the body; waits while what was sent before is not taken."""
        if data:
            await self._send(_chunk(data))

    async def end(self, failure: str | None = None) -> None:
        """Send the end: of a whole body, or of one that a failure of this name broke off."""
        trailers = ""
        if failure:
            body = base64.b64encode(json.dumps({"errorType": failure, "errorMessage": ""}).encode()).decode()
            trailers = f"{ERROR_TYPE}: {failure}\r\n{ERROR_BODY}: {body}\r\n"
        await self._send(f"0\r\n{trailers}\r\n".encode())
        reader, writer = self._opened
        status = await reader.readline()
        writer.close()
        if status.split()[1:2] != [str(int(HTTPStatus.ACCEPTED)).encode()]:
            raise PostRefused(status.decode(errors="replace").strip())

    async def _send(self, data: bytes) -> None:
        _, writer = self._opened
        writer.write(data)
        await writer.drain()

    @property
    def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            raise RuntimeError("the answer has not begun")
        return self._streams


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
