"""Answers in one piece, as API Gateway takes them from a function."""

import json
from http import HTTPStatus

from aws_lambda_powertools.utilities.typing import LambdaContext
from starlette.types import Message, Scope

from tertulia.domain.errors import TertuliaError
from tertulia.entrypoints.gateway.requests import Event, GatewayRequest
from tertulia.entrypoints.http.errors import REQUEST_ID, problem
from tertulia.entrypoints.telemetry import correlation_id

MOST_RESPONSE_BYTES = 6_291_556
"""Lambda fails a call whose answer, as JSON, is longer."""
_LONGEST_ESCAPE = 6


class WholeResponse:
    """Collects what the application sends."""

    def __init__(self) -> None:
        self.status = 0
        self.body = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []

    async def send(self, message: Message) -> None:
        """Take a part of the answer."""
        if message["type"] == "http.response.start":
            self.status, self._headers = message["status"], list(message["headers"])
        else:
            self.body += message.get("body", b"")

    @property
    def media_type(self) -> str:
        """What the body is."""
        return next((value.decode("latin-1") for name, value in self._headers if name == b"content-type"), "")

    def answer(self, request: GatewayRequest) -> Event | None:
        """Return the answer to a request, or None where Lambda would not carry it."""
        if len(self.body) > MOST_RESPONSE_BYTES:
            return None
        headers = [[name, value] for name, value in self._headers]
        answer = request.gateway({"status": self.status, "headers": headers, "body": bytes(self.body)})
        return answer if _carried_bytes(answer) <= MOST_RESPONSE_BYTES else None

    def redirect(self, address: str) -> None:
        """Send the client to where the body is; what else the headers tell, they go on telling."""
        kept = [(name, value) for name, value in self._headers if not name.startswith(b"content-")]
        self.status, self.body = HTTPStatus.FOUND, bytearray()
        self._headers = [*kept, (b"location", address.encode())]

    def replace(self, scope: Scope, error: TertuliaError) -> None:
        """Tell of a failure instead, and let web pages of other origins read it where they could read the answer."""
        told = problem(scope, error)
        kept = [(name, value) for name, value in self._headers if name.startswith((b"access-control-", b"x-request-"))]
        self.status, self._headers, self.body = told.status_code, [*told.raw_headers, *kept], bytearray(told.body)


def refusal(error: TertuliaError, event: object, context: LambdaContext) -> Event:
    """Return the answer to an event that is no request."""
    scope = {"type": "http", "headers": [], REQUEST_ID: correlation_id(event, context)}
    told = problem(scope, error)
    headers = {name.decode(): value.decode() for name, value in told.raw_headers}
    return {
        "statusCode": told.status_code,
        "headers": headers,
        "body": bytes(told.body).decode(),
        "isBase64Encoded": False,
    }


def has_failed(answer: Event) -> bool:
    """Whether an answer tells of a failure of ours."""
    return bool(answer["statusCode"] >= HTTPStatus.INTERNAL_SERVER_ERROR)


def _carried_bytes(answer: Event) -> int:
    """Count the bytes of an answer on its way; exactly only when it may be too many."""
    most = len(answer["body"]) * _LONGEST_ESCAPE
    return len(json.dumps(answer, ensure_ascii=False).encode()) if most > MOST_RESPONSE_BYTES // 2 else most
