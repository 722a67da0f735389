"""A request as API Gateway hands it over, of a REST API or an HTTP API."""

import asyncio
from dataclasses import dataclass
from typing import Any, cast

from aws_lambda_powertools.utilities.typing import LambdaContext
from mangum.adapter import DEFAULT_TEXT_MIME_TYPES
from mangum.handlers import APIGateway, HTTPGateway
from mangum.types import LambdaConfig
from mangum.types import LambdaContext as MangumContext
from starlette.types import Receive, Scope

from tertulia.domain.errors import InvalidRequest
from tertulia.entrypoints.http.errors import REQUEST_ID
from tertulia.entrypoints.telemetry import correlation_id

NOT_A_REQUEST = "This function answers requests of API Gateway, and this event is none."
_CONFIG = LambdaConfig(
    api_gateway_base_path="/",
    text_mime_types=[*DEFAULT_TEXT_MIME_TYPES, "application/problem+json"],
    exclude_headers=[],
)

type Event = dict[str, Any]


@dataclass(frozen=True)
class GatewayRequest:
    """An event of API Gateway, read."""

    scope: Scope
    body: bytes
    route: str
    """The path as the template writes it, with its parameters; only REST APIs tell it."""
    gateway: APIGateway | HTTPGateway

    @classmethod
    def of(cls, event: object, context: LambdaContext) -> "GatewayRequest":
        """Read an event, or raise InvalidRequest when it is none of API Gateway's."""
        told = cast(MangumContext, context)
        kinds = (HTTPGateway, APIGateway)
        try:
            found = next(kind for kind in kinds if kind.infer(cast(Event, event), told, _CONFIG))
            gateway = found(cast(Event, event), told, _CONFIG)
            scope, body = gateway.scope, gateway.body
            headers = _headers(gateway.event) or scope["headers"]
        except (StopIteration, LookupError, TypeError, ValueError, AttributeError) as error:
            raise InvalidRequest(NOT_A_REQUEST) from error
        own = {**scope, "headers": headers, REQUEST_ID: correlation_id(event, context)}
        return cls(own, body, str(gateway.event.get("resource", "")), gateway)

    def receive(self, leaving: asyncio.Event) -> Receive:
        """Return what gives the application the body, and after it, when its client leaves, that it has left."""
        parts: list[Event] = [{"type": "http.request", "body": self.body, "more_body": False}]

        async def receive() -> Event:
            if parts:
                return parts.pop()
            await leaving.wait()
            return {"type": "http.disconnect"}

        return receive


def _headers(event: Event) -> list[tuple[bytes, bytes]]:
    """Return a REST API's headers one by one: joined by commas, cookies would run into each other."""
    return [
        (name.lower().encode(), value.encode())
        for name, values in (event.get("multiValueHeaders") or {}).items()
        for value in values
    ]
