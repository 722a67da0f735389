"""The REST API as the transformed template describes it: routes, authorizers, and the gateway's own answers."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tests.infra.transformed import Template, resources

INTEGRATION = "x-amazon-apigateway-integration"
ANY = "x-amazon-apigateway-any-method"
_FUNCTION = re.compile(r"functions/\$\{(?P<name>\w+?)(?:Aliaslive|\.Arn)?\}")


@dataclass(frozen=True, kw_only=True)
class Authorizer:
    """Who is asked whether a request may pass."""

    function: str
    kind: str
    seconds: int
    """How long its answer holds for the same identity."""
    identity_headers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What a route does with a method."""

    function: str
    is_streamed: bool
    authorizer: Authorizer | None
    seconds: float


@dataclass(frozen=True)
class Route:
    """A path with its operations."""

    path: str
    operations: Mapping[str, Operation]

    def matched(self, path: str) -> dict[str, str] | None:
        """Return the parameters of a path that is this route's, decoded."""
        pattern = re.sub(r"\\\{(\w+)\\\+\\\}", r"(?P<\1>.+)", re.escape(self.path))
        found = re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", pattern), path)
        return {name: unquote(value) for name, value in found.groupdict().items()} if found else None


@dataclass(frozen=True)
class GatewayAnswer:
    """What the gateway says by itself."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Api:
    """The one REST API of a template."""

    def __init__(self, template: Template) -> None:
        (api,) = resources("AWS::ApiGateway::RestApi", template).values()
        (stage,) = resources("AWS::ApiGateway::Stage", template).values()
        self.document: dict[str, Any] = api["Properties"]["Body"]
        name = stage["Properties"]["StageName"]
        self.stage: str = template["Parameters"][name["Ref"]]["Default"] if isinstance(name, dict) else name
        self.takes_bytes = "*/*" in [
            kind.replace("~1", "/") for kind in self.document.get("x-amazon-apigateway-binary-media-types", [])
        ]
        # The more a path says literally, the sooner it is tried.
        self.routes = sorted(self._routes(), key=lambda route: [part.startswith("{") for part in route.path.split("/")])

    def find(self, path: str) -> tuple[Route, dict[str, str]] | None:
        """Return the route of a path, with the path's parameters."""
        matches = ((route, route.matched(path)) for route in self.routes)
        return next(((route, parameters) for route, parameters in matches if parameters is not None), None)

    def answer(self, kind: str, status: int, request_id: str) -> GatewayAnswer:
        """Return what the gateway says in a case that has a name."""
        told = self.document.get("x-amazon-apigateway-gateway-responses", {})
        found = told.get(kind) or told.get("DEFAULT_4XX" if status < 500 else "DEFAULT_5XX") or {}
        headers = {"Content-Type": "application/json"}
        for name, value in found.get("responseParameters", {}).items():
            header = name.removeprefix("gatewayresponse.header.")
            headers[header] = value.strip("'") if value.startswith("'") else request_id
        body = found.get("responseTemplates", {}).get("application/json", '{"message":$context.error.messageString}')
        body = body.replace("$context.requestId", request_id).replace("$context.error.messageString", json.dumps(kind))
        return GatewayAnswer(int(found.get("statusCode", status)), headers, body.encode())

    def _routes(self) -> Iterator[Route]:
        for path, methods in self.document["paths"].items():
            yield Route(path, {_method(name): self._operation(operation) for name, operation in methods.items()})

    def _operation(self, operation: Mapping[str, Any]) -> Operation:
        integration = operation[INTEGRATION]
        is_streamed = "response-streaming-invocations" in json.dumps(integration["uri"])
        assert is_streamed == (integration.get("responseTransferMode") == "STREAM"), "half a streamed route"
        return Operation(
            function=_function(integration["uri"]),
            is_streamed=is_streamed,
            authorizer=self._authorizer(operation.get("security", [])),
            seconds=integration.get("timeoutInMillis", 29_000) / 1000,
        )

    def _authorizer(self, security: list[dict[str, Any]]) -> Authorizer | None:
        schemes = self.document.get("components", {}).get("securitySchemes", {})
        for name in (name for each in security for name in each):
            told = schemes.get(name, {}).get("x-amazon-apigateway-authorizer")
            if told:
                sources = told.get("identitySource", "").split(",")
                headers = [source.strip().removeprefix("method.request.header.") for source in sources if source]
                return Authorizer(
                    function=_function(told["authorizerUri"]),
                    kind=told["type"].upper(),
                    seconds=int(told.get("authorizerResultTtlInSeconds", 300)),
                    identity_headers=tuple(headers),
                )
        return None


def _method(name: str) -> str:
    return "ANY" if name == ANY else name.upper()


def _function(uri: Mapping[str, Any]) -> str:
    """Return the name of the function that an address calls."""
    text = uri["Fn::Sub"]
    if isinstance(text, list):
        text, names = text
        for name, value in names.items():
            target = value.get("Ref") or value["Fn::GetAtt"][0]
            text = text.replace(f"${{{name}}}", f"${{{target}}}")
    found = _FUNCTION.search(text)
    assert found, text
    return found["name"]
