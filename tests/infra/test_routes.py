"""The gateway: every route reaches its function, streams or not as the code does, and asks who is there."""

import json
from typing import Any

import pytest
from fastapi.routing import APIRoute, APIRouter

from tertulia.entrypoints.aws import STREAMED_ROUTES
from tertulia.entrypoints.http.app import EXPOSED_HEADERS
from tertulia.entrypoints.http.every_route import ROUTERS
from tertulia.entrypoints.http.routers import description, uploads, user_jobs
from tertulia.entrypoints.http.sse import EventStream
from tests.functions.handlers import handler_of
from tests.infra.transformed import Resource, folder_of, function_of, resources, routes, source, transform_of


def paths_of(router: APIRouter) -> list[APIRoute]:
    return [route for route in router.routes if isinstance(route, APIRoute)]


ON_THE_LOCAL_SERVER_ONLY = (uploads.taking, user_jobs.router)
OPEN = {("/api/health", "any"), ("/api/openapi.json", "any"), ("/api/session", "post")}
"""What needs no token: the state of the service, what it can do, and the way in."""
STREAMING = STREAMED_ROUTES - {route.path for router in ON_THE_LOCAL_SERVER_ONLY for route in paths_of(router)}

API = next(iter(resources("AWS::ApiGateway::RestApi").values()))["Properties"]
HTTP_FUNCTIONS = sorted({function_of(operation) for _, _, operation in routes()})


def integration(operation: Resource) -> dict[str, Any]:
    return dict(operation["x-amazon-apigateway-integration"])


def streams(operation: Resource) -> bool:
    told = integration(operation)
    is_told = told.get("responseTransferMode") == "STREAM"
    # The word of CloudFormation in place of SAM's would lint, and be buffered without a sound.
    assert is_told == told["uri"]["Fn::Sub"].endswith("/response-streaming-invocations")
    assert is_told == ("2021-11-15" in told["uri"]["Fn::Sub"])
    return is_told


@pytest.mark.parametrize("function", HTTP_FUNCTIONS)
def test_a_function_gets_the_requests_of_its_own_routes(function: str) -> None:
    routers = handler_of(folder_of(function)).routers
    served = {route.path for router in routers for route in paths_of(router)}
    assert {path for path, _, operation in routes() if function_of(operation) == function} == served


def test_every_route_is_in_one_function() -> None:
    deployed = [id(router) for function in HTTP_FUNCTIONS for router in handler_of(folder_of(function)).routers]
    every = (description.router, *ROUTERS)
    assert sorted(deployed) == sorted(id(router) for router in every if router not in ON_THE_LOCAL_SERVER_ONLY)


def test_every_path_answers_every_method_and_the_preflight() -> None:
    methods: dict[str, set[str]] = {}
    for path, method, _ in routes():
        methods.setdefault(path, set()).add(method)
    assert all({"any", "options"} <= each for each in methods.values())


def test_the_streaming_routes_stream_and_no_other() -> None:
    assert {path for path, method, operation in routes() if method == "any" and streams(operation)} == STREAMING
    assert not any(streams(operation) for _, method, operation in routes() if method == "options")


def test_every_event_stream_of_the_code_streams() -> None:
    streams_of_events = {
        route.path
        for router in ROUTERS
        for route in paths_of(router)
        if isinstance(route.response_class, type) and issubclass(route.response_class, EventStream)
    }
    assert len(streams_of_events) > 2
    assert streams_of_events <= STREAMED_ROUTES


def test_streams_can_be_sent_in_one_piece_by_changing_one_line() -> None:
    line = 'Streams: [&transfer RESPONSE_STREAM, &streaming "true", &wrapper /opt/stream-bootstrap]'
    buffered = transform_of(line, 'Streams: [&transfer BUFFERED, &streaming "false", &wrapper ""]')
    assert not any(streams(operation) for _, _, operation in routes(buffered))
    functions = resources("AWS::Lambda::Function", buffered).values()
    variables = [properties["Properties"]["Environment"]["Variables"] for properties in functions]
    assert {each["TERTULIA_STREAMING"] for each in variables if "TERTULIA_STREAMING" in each} == {"false"}
    assert {each["AWS_LAMBDA_EXEC_WRAPPER"] for each in variables if "AWS_LAMBDA_EXEC_WRAPPER" in each} == {""}


def test_only_functions_that_stream_have_the_streaming_runtime() -> None:
    streaming = {function_of(operation) for _, _, operation in routes() if streams(operation)}
    for name, function in resources("AWS::Lambda::Function").items():
        variables = function["Properties"]["Environment"]["Variables"]
        assert (variables.get("TERTULIA_STREAMING") == "true") == (name in streaming)
        assert ("AWS_LAMBDA_EXEC_WRAPPER" in variables) == (name in streaming)


def test_every_route_but_the_open_ones_and_the_preflight_asks_who_is_there() -> None:
    for path, method, operation in routes():
        is_open = method == "options" or (path, method) in OPEN
        assert operation["security"] == [{"NONE" if is_open else "Callers": []}], (path, method)


def test_the_authorizer_sees_the_whole_request_and_is_remembered_a_minute_at_most() -> None:
    authorizer = API["Body"]["components"]["securitySchemes"]["Callers"]["x-amazon-apigateway-authorizer"]
    assert authorizer["type"] == "request"
    assert authorizer["authorizerResultTtlInSeconds"] <= 60
    # With a source of identity, a page with a cookie alone would be turned away before the authorizer is asked.
    assert "identitySource" not in authorizer


def test_bodies_pass_as_bytes_and_the_endpoint_is_regional() -> None:
    assert API["Body"]["x-amazon-apigateway-binary-media-types"] == ["*/*"]
    assert API["EndpointConfiguration"] == {"Types": ["REGIONAL"]}


def test_the_stage_is_throttled_and_traced() -> None:
    (stage,) = resources("AWS::ApiGateway::Stage").values()
    (everything,) = stage["Properties"]["MethodSettings"]
    assert everything["ResourcePath"] == "/*"
    assert everything["ThrottlingBurstLimit"] >= everything["ThrottlingRateLimit"] > 0
    assert stage["Properties"]["TracingEnabled"] is True


STATUSES = {
    "UNAUTHORIZED": (401, "unauthorized"),
    "ACCESS_DENIED": (401, "unauthorized"),
    "MISSING_AUTHENTICATION_TOKEN": (404, "not_found"),
    "RESOURCE_NOT_FOUND": (404, "not_found"),
    "REQUEST_TOO_LARGE": (413, "too_large"),
    "THROTTLED": (429, "rate_limited"),
    "QUOTA_EXCEEDED": (429, "rate_limited"),
    "INTEGRATION_TIMEOUT": (503, "unavailable"),
    "INTEGRATION_FAILURE": (503, "unavailable"),
    "DEFAULT_4XX": (400, "invalid_request"),
    "DEFAULT_5XX": (500, "internal"),
}


@pytest.mark.parametrize(("kind", "told"), STATUSES.items())
def test_what_the_gateway_says_itself_is_a_problem_that_any_page_can_read(kind: str, told: tuple[int, str]) -> None:
    response = API["Body"]["x-amazon-apigateway-gateway-responses"][kind]
    headers = {
        name.removeprefix("gatewayresponse.header."): value for name, value in response["responseParameters"].items()
    }
    problem = json.loads(response["responseTemplates"]["application/json"])
    status, code = told
    assert (int(response["statusCode"]), problem["status"], problem["code"]) == (status, status, code)
    assert problem["error"] == problem["detail"]
    assert set(problem) == {"type", "title", "status", "detail", "code", "request_id", "error"}
    # The gateway takes fixed values and those of a request's parameters; the request's id can only be in the body.
    assert all(value.startswith("'") for value in headers.values())
    assert problem["request_id"] == "$context.requestId"
    assert headers["Content-Type"] == "'application/problem+json'"
    assert headers["Access-Control-Allow-Origin"] == "'*'"
    assert set(headers["Access-Control-Expose-Headers"].strip("'").split(",")) <= set(EXPOSED_HEADERS)
    assert ("Retry-After" in headers) == (status in {429, 503})
    assert ("WWW-Authenticate" in headers) == (status == 401)


def test_the_gateway_tells_nothing_in_its_own_words() -> None:
    assert set(API["Body"]["x-amazon-apigateway-gateway-responses"]) == set(STATUSES)


def test_a_domain_of_ones_own_is_mapped_to_the_stage_when_it_is_named() -> None:
    template = source()["Resources"]
    assert template["Domain"]["Condition"] == template["DomainMapping"]["Condition"] == "HasDomain"
    assert template["Domain"]["Properties"]["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
