"""What a function gets of a request, and what arrives of its answer, through the gateway."""

import hashlib
import json
from typing import Any

import httpx
import pytest

from tertulia.entrypoints.gateway.responses import MOST_RESPONSE_BYTES
from tests.lambdas.trials import ORIGIN, Trial

ALL_BYTES = bytes(range(256)) * 8


@pytest.fixture(params=["buffered", "streaming"])
def api(request: pytest.FixtureRequest) -> Trial:
    running: Trial = request.getfixturevalue(request.param)
    return running


def got(api: Trial, path: str, method: str = "POST", **more: Any) -> httpx.Response:
    return httpx.request(method, api.url + path, timeout=60, **more)


def test_every_byte_arrives_both_ways(api: Trial) -> None:
    told = got(api, "/api/echo/it", content=ALL_BYTES).json()
    assert told["sha256"] == hashlib.sha256(ALL_BYTES).hexdigest()
    assert got(api, "/api/bytes", "GET").content == ALL_BYTES


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a%20b", "a b"),
        ("a%2520b", "a%20b"),
        ("%C3%A9t%C3%A9-%E4%BD%A0%E5%A5%BD", "été-你好"),
        ("a%2Fb", "a/b"),
        ("deep/er", "deep/er"),
        ("trial/api/echo", "trial/api/echo"),
        ("%00%FF", "\x00\ufffd"),
    ],
)
def test_paths_arrive_decoded_once(path: str, name: str, api: Trial) -> None:
    assert got(api, f"/api/echo/{path}").json()["name"] == name


def test_cookies_repeated_headers_and_queries_arrive_one_by_one(api: Trial) -> None:
    headers = [("Cookie", "a=1; b=2"), ("Cookie", "c=3"), ("X-Several", "one, two"), ("X-Several", "three")]
    told = got(api, "/api/echo/it?q=1&q=2&w=%C3%A9+%26&empty=", headers=headers).json()
    assert told["cookies"] == {"a": "1", "b": "2", "c": "3"}
    assert told["headers"] == ["one, two", "three"]
    assert sorted(map(tuple, told["query"])) == [("empty", ""), ("q", "1"), ("q", "2"), ("w", "é &")]


def test_cookies_are_set_one_by_one(api: Trial) -> None:
    assert len(got(api, "/api/bytes", "GET").headers.get_list("set-cookie")) == 2
    assert got(api, "/api/events", "GET").headers.get_list("set-cookie") == [
        "one=1; Path=/; SameSite=lax",
        "two=2; Path=/; SameSite=lax",
    ]


@pytest.mark.parametrize(("path", "status"), [("broken", 500), ("missing", 404), ("echo/x", 405)])
def test_failures_can_be_read_by_the_page_that_asked(path: str, status: int, api: Trial) -> None:
    response = got(api, f"/api/{path}", "DELETE" if status == 405 else "GET", headers={"Origin": ORIGIN})
    assert response.status_code == status
    assert response.headers["access-control-allow-origin"] == ORIGIN
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["request_id"] == response.headers["x-request-id"]
    assert "gsk_" not in response.text


def test_the_id_of_a_request_is_the_gateways_and_no_clients(api: Trial) -> None:
    response = got(api, "/api/echo/it", headers={"X-Request-Id": "mine", "X-Amzn-RequestId": "mine"})
    told = response.headers["x-request-id"]
    assert told != "mine"
    written = [json.loads(line) for line in api.host.logs["TrialFunction"] if line.startswith("{")]
    got(api, "/api/broken", "GET")
    written = [json.loads(line) for line in api.host.logs["TrialFunction"] if '"correlation_id"' in line]
    assert written
    assert all(line["correlation_id"] != "mine" for line in written)


def test_an_answer_that_lambda_cannot_carry_is_refused_in_words(api: Trial) -> None:
    carried = got(api, f"/api/large?size={MOST_RESPONSE_BYTES - 1000}", "GET")
    assert len(carried.content) == MOST_RESPONSE_BYTES - 1000
    for size, kind in ((MOST_RESPONSE_BYTES + 1, "text/plain"), (4_800_000, "application/octet-stream")):
        response = got(api, f"/api/large?size={size}&kind={kind}", "GET", headers={"Origin": ORIGIN})
        assert response.status_code == 413
        assert response.json()["code"] == "too_large"
        assert response.headers["access-control-allow-origin"] == ORIGIN


@pytest.mark.parametrize("size", [5_000_000, 10 * 1024 * 1024 + 1])
def test_bodies_that_the_gateway_or_lambda_cannot_carry_do_not_reach_the_function(size: int, api: Trial) -> None:
    assert got(api, "/api/echo/it", content=bytes(size)).status_code == 413


@pytest.mark.parametrize(
    "event",
    [
        {},
        None,
        [],
        "text",
        7,
        {"version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}},
        {"Records": [{"eventSource": "aws:sqs", "body": "{}"}]},
        {"resource": "/api/slow", "requestContext": None},
        {"resource": "/api/slow", "requestContext": {}},
        {"resource": "/api/slow", "requestContext": {}, "httpMethod": "GET", "path": "/", "headers": 7},
        {
            "resource": "/",
            "requestContext": {},
            "httpMethod": "GET",
            "path": "/",
            "body": "abc",
            "isBase64Encoded": True,
        },
        {"resource": "/", "requestContext": {}, "httpMethod": "GET", "path": "/", "headers": {"Host": "a:b:c"}},
        {"resource": "/", "requestContext": {}, "httpMethod": "GET", "path": "/", "body": {"not": "text"}},
        {"version": "2.0", "requestContext": {"http": {}}},
    ],
)
def test_an_event_that_is_no_request_gets_a_clear_answer(event: object, api: Trial) -> None:
    answer = api.invoke("TrialFunction", event)
    assert answer["statusCode"] == 400
    assert json.loads(answer["body"])["code"] == "invalid_request"
