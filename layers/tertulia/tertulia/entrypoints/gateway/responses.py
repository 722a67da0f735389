"""Answers in one piece, as API Gateway takes them from a function."""

import json
from http import HTTPStatus

from aws_lambda_powertools.utilities.typing import LambdaContext
from starlette.types import Message, Scope

from tertulia.domain.errors import TertuliaError, TooLarge
from tertulia.entrypoints.gateway.requests import Event, GatewayRequest
from tertulia.entrypoints.http.errors import REQUEST_ID, problem
from tertulia.entrypoints.telemetry import correlation_id

MOST_RESPONSE_BYTES = 6_291_556
"""Lambda fails a call whose answer, as JSON, is longer."""
ANSWER_TOO_LARGE = "The answer is too large to be sent in one piece. Ask for less at a time, or for a stream."
_LONGEST_ESCAPE = 6


class WholeResponse:
    """Collects what the application sends."""

    def __init__(self) -> None:
        self.status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        """Take a part of the answer."""
        if message["type"] == "http.response.start":
            self.status, self._headers = message["status"], list(message["headers"])
        else:
            self._body += message.get("body", b"")

    def answer(self, request: GatewayRequest) -> Event:
        """Return the answer to a request; one that Lambda would not carry is a failure that says so."""
        answer = self._as_event(request)
        if _carried_bytes(answer) <= MOST_RESPONSE_BYTES:
            return answer
        self.replace(request.scope, TooLarge(ANSWER_TOO_LARGE))
        return self._as_event(request)

    def replace(self, scope: Scope, error: TertuliaError) -> None:
        """Tell of a failure instead, and let web pages of other origins read it where they could read the answer."""
        told = problem(scope, error)
        kept = [(name, value) for name, value in self._headers if name.startswith((b"access-control-", b"x-request-"))]
        self.status, self._headers, self._body = told.status_code, [*told.raw_headers, *kept], bytearray(told.body)

    def _as_event(self, request: GatewayRequest) -> Event:
        headers = [[name, value] for name, value in self._headers]
        return request.gateway({"status": self.status, "headers": headers, "body": bytes(self._body)})


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
