"""API Gateway on this machine: answers HTTP by calling functions, as a REST API of the template would."""

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.lambdas.api import Api, Authorizer, Operation, Route
from tests.lambdas.host import ACCOUNT, REGION, Host, PayloadTooLarge
from tests.lambdas.runtime_api import FunctionFailed

MOST_BODY_BYTES = 10 * 1024 * 1024
MOST_PRELUDE_BYTES = 16 * 1024
PRELUDE_END = bytes(8)
API_ID = "a1b2c3d4e5"

type Event = dict[str, Any]


class Refused(Exception):
    """The gateway answers by itself."""

    def __init__(self, kind: str, status: int) -> None:
        super().__init__(kind)
        self.kind = kind
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request on its way."""

    request: Request
    route: Route
    operation: Operation
    event: Event
    id: str
    parameters: Mapping[str, str]


@dataclass
class Gateway:
    """One stage of the API; with a domain of its own, a base path takes the stage's place."""

    api: Api
    host: Host
    base_path: str | None = None
    _policies: dict[tuple[str, ...], tuple[float, Event]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request_id = str(uuid4())
        try:
            call = await self._call(Request(scope, receive), request_id)
            await self._authorize(call)
            answering = self._stream if call.operation.is_streamed else self._answer
            await answering(call, scope, receive, send)
        except Refused as refused:
            told = self.api.answer(refused.kind, refused.status, request_id)
            await Response(told.body, told.status, told.headers)(scope, receive, send)

    async def _call(self, request: Request, request_id: str) -> Call:
        raw = request.scope["raw_path"].decode().split("?")[0]
        prefix = f"/{self.base_path if self.base_path is not None else self.api.stage}".rstrip("/")
        if not raw.startswith(prefix + "/"):
            raise Refused("MISSING_AUTHENTICATION_TOKEN", 403)
        found = self.api.find(raw.removeprefix(prefix))
        operations = found[0].operations if found else {}
        operation = operations.get(request.method) or operations.get("ANY")
        if found is None or operation is None:
            raise Refused("MISSING_AUTHENTICATION_TOKEN", 403)
        body = await request.body()
        if len(body) > MOST_BODY_BYTES:
            raise Refused("REQUEST_TOO_LARGE", 413)
        route, parameters = found
        event = self._event(request, route, raw, body) | {"pathParameters": parameters or None}
        event["requestContext"]["requestId"] = request_id
        return Call(
            request=request, route=route, operation=operation, event=event, id=request_id, parameters=parameters
        )

    def _event(self, request: Request, route: Route, raw: str, body: bytes) -> Event:
        headers = [(name.decode(), value.decode("latin-1")) for name, value in request.scope["headers"]]
        headers += [("X-Forwarded-Proto", "https"), ("X-Forwarded-Port", "443"), ("X-Forwarded-For", "203.0.113.7")]
        query = parse_qsl(request.url.query, keep_blank_values=True)
        own = self.base_path is not None
        as_text = not body or not self.api.takes_bytes
        return {
            "resource": route.path,
            # With a domain of its own the path is told as it was asked for, else without the stage.
            "path": raw if own else raw.removeprefix(f"/{self.api.stage}"),
            "httpMethod": request.method,
            "headers": dict(headers),
            "multiValueHeaders": _several(headers),
            "queryStringParameters": dict(query) or None,
            "multiValueQueryStringParameters": _several(query) or None,
            "stageVariables": None,
            "requestContext": {
                "accountId": ACCOUNT,
                "apiId": API_ID,
                "domainName": f"{API_ID}.execute-api.{REGION}.amazonaws.com",
                "domainPrefix": API_ID,
                "httpMethod": request.method,
                "identity": {"sourceIp": "203.0.113.7", "userAgent": request.headers.get("user-agent")},
                "path": raw,
                "protocol": "HTTP/1.1",
                "requestTimeEpoch": int(time.time() * 1000),
                "resourceId": "abc123",
                "resourcePath": route.path,
                "stage": self.api.stage,
            },
            "body": (body.decode(errors="replace") if as_text else base64.b64encode(body).decode()) if body else None,
            "isBase64Encoded": not as_text,
        }

    async def _authorize(self, call: Call) -> None:
        authorizer = call.operation.authorizer
        if authorizer is None:
            return
        identity = tuple(call.request.headers.get(name, "") for name in authorizer.identity_headers)
        if not all(identity):
            raise Refused("UNAUTHORIZED", 401)
        method = call.request.method
        arn = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{API_ID}/{self.api.stage}/{method}{call.event['path']}"
        policy = await self._policy(authorizer, identity, call, arn)
        if not _allows(policy["policyDocument"], arn):
            raise Refused("ACCESS_DENIED", 403)
        context = {name: str(value) for name, value in policy.get("context", {}).items()}
        call.event["requestContext"]["authorizer"] = {"principalId": policy["principalId"], **context}

    async def _policy(self, authorizer: Authorizer, identity: tuple[str, ...], call: Call, arn: str) -> Event:
        key = (authorizer.function, *identity)
        until, known = self._policies.get(key, (0.0, {}))
        if until > time.monotonic():
            return known
        event = {**call.event, "type": authorizer.kind, "methodArn": arn}
        for unknown in ("body", "isBase64Encoded"):
            event.pop(unknown)
        if authorizer.kind == "TOKEN":
            event = {"type": "TOKEN", "methodArn": arn, "authorizationToken": identity[0]}
        try:
            policy: Event = json.loads(await self.host.invoke(authorizer.function, _encoded(event)))
        except FunctionFailed as failed:
            is_unknown = json.loads(failed.payload)["errorMessage"] == "Unauthorized"
            raise (Refused("UNAUTHORIZED", 401) if is_unknown else Refused("AUTHORIZER_FAILURE", 500)) from failed
        if authorizer.seconds:
            self._policies[key] = (time.monotonic() + authorizer.seconds, policy)
        return policy

    async def _answer(self, call: Call, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(call.operation.seconds):
                answer = json.loads(await self.host.invoke(call.operation.function, _encoded(call.event)))
            body = answer.get("body") or ""
            content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
            response = Response(content, int(answer["statusCode"]))
        except PayloadTooLarge:
            raise Refused("REQUEST_TOO_LARGE", 413) from None
        except TimeoutError:
            raise Refused("INTEGRATION_TIMEOUT", 504) from None
        except (FunctionFailed, LookupError, TypeError, ValueError, AttributeError) as error:
            raise Refused("DEFAULT_5XX", 502) from error
        response.raw_headers = [*_headers(answer), (b"content-length", str(len(content)).encode())]
        await response(scope, receive, send)

    async def _stream(self, call: Call, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            parts = self.host.stream(call.operation.function, _encoded(call.event))
            prelude, first = await _prelude(parts)
            start = {"type": "http.response.start", "status": int(prelude["statusCode"]), "headers": _headers(prelude)}
        except PayloadTooLarge:
            raise Refused("REQUEST_TOO_LARGE", 413) from None
        except (FunctionFailed, LookupError, TypeError, ValueError) as error:
            raise Refused("DEFAULT_5XX", 502) from error
        await send(start)
        await send({"type": "http.response.body", "body": first, "more_body": True})
        # A failure on the way goes up from here, and the server cuts the connection.
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _prelude(parts: AsyncIterator[bytes]) -> tuple[Event, bytes]:
    """Read what is told about a streamed response, and the beginning of its body."""
    seen = b""
    async for part in parts:
        seen += part
        head, end, first = seen.partition(PRELUDE_END)
        if end:
            return json.loads(head), first
        if len(seen) > MOST_PRELUDE_BYTES:
            break
    raise ValueError("the response does not begin with what is told about it")


def _headers(answer: Event) -> list[tuple[bytes, bytes]]:
    single = {name: [value] for name, value in (answer.get("headers") or {}).items()}
    several = {**single, **(answer.get("multiValueHeaders") or {}), "set-cookie": answer.get("cookies") or []}
    if not answer.get("cookies"):
        several["set-cookie"] = (answer.get("multiValueHeaders") or {}).get("set-cookie") or single.get(
            "set-cookie", []
        )
    return [
        (name.lower().encode(), str(value).encode("latin-1"))
        for name, values in several.items()
        for value in values
        if name.lower() not in {"content-length", "connection", "transfer-encoding"}
    ]


def _allows(policy: Event, arn: str) -> bool:
    effects = {
        statement["Effect"]
        for statement in policy["Statement"]
        for resource in ([statement["Resource"]] if isinstance(statement["Resource"], str) else statement["Resource"])
        if fnmatchcase(arn, resource.replace("[", "[[]"))
    }
    return effects == {"Allow"}


def _several(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _encoded(event: Event) -> bytes:
    return json.dumps(event).encode()
