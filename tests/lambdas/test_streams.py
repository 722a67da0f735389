"""Answers that are streamed: each part on its way when it is made, ended in time, and broken off so that it shows."""

import itertools
import time

import httpx
import pytest

from tests.lambdas.artifacts import Artifacts
from tests.lambdas.runtime_api import MOST_PAYLOAD_BYTES, FunctionFailed
from tests.lambdas.trials import ORIGIN, Trial, trial

PAUSE = 0.2


def arrivals(url: str) -> list[tuple[float, bytes]]:
    """Return what comes, and how long after the start of the answer."""
    with httpx.stream("GET", url, timeout=60) as response:
        started = time.monotonic()
        return [(time.monotonic() - started, part) for part in response.iter_raw()]


def test_parts_arrive_one_by_one_while_they_are_made(streaming: Trial) -> None:
    came = arrivals(f"{streaming.url}/api/events?number=5&pause={PAUSE}")
    assert b"".join(part for _, part in came) == b"".join(b"data: %d\n\n" % place for place in range(5))
    assert len(came) == 5
    assert all(later - sooner > PAUSE / 2 for (sooner, _), (later, _) in itertools.pairwise(came))


def test_where_nothing_streams_the_same_answer_comes_in_one_piece(buffered: Trial) -> None:
    response = httpx.get(f"{buffered.url}/api/events?number=5", timeout=60)
    assert response.text == "".join(f"data: {place}\n\n" for place in range(5))
    assert response.headers["content-type"].startswith("text/event-stream")


def test_an_answer_longer_than_lambda_carries_in_one_piece_is_streamed(streaming: Trial) -> None:
    size = 2 * MOST_PAYLOAD_BYTES // 4 * 4
    assert len(httpx.get(f"{streaming.url}/api/voice?size={size}", timeout=60).content) == size


def test_an_answer_that_breaks_off_is_never_taken_for_a_whole_one(streaming: Trial) -> None:
    received: list[bytes] = []
    broken = f"{streaming.url}/api/events?number=5&fail_at=3"
    with httpx.stream("GET", broken, timeout=60) as response, pytest.raises(httpx.RemoteProtocolError):
        received.extend(response.iter_raw())
    assert b"".join(received) == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"


def test_what_broke_an_answer_off_is_told_to_lambda_without_its_words(streaming: Trial) -> None:
    event = {
        "resource": "/api/events",
        "path": "/api/events",
        "httpMethod": "GET",
        "requestContext": {},
        "queryStringParameters": {"fail_at": "1"},
    }
    with pytest.raises(FunctionFailed) as told:
        streaming.invoke("TrialFunction", event)
    assert told.value.kind == "RuntimeError"
    assert b"gsk_" not in told.value.payload


def test_an_answer_that_fails_before_it_begins_has_a_status_of_its_own(streaming: Trial) -> None:
    response = httpx.get(f"{streaming.url}/api/voice", headers={"Origin": ORIGIN}, timeout=60)
    assert response.status_code == 400
    assert response.headers["access-control-allow-origin"] == ORIGIN
    assert response.json()["code"] == "invalid_request"


def test_a_question_before_a_streamed_request_is_answered(streaming: Trial) -> None:
    asking = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}
    event = {"resource": "/api/events", "path": "/api/events", "httpMethod": "OPTIONS", "requestContext": {}}
    answer = streaming.invoke("TrialFunction", {**event, "headers": asking})
    assert answer["statusCode"] == 200
    assert answer["headers"]["access-control-allow-origin"] == ORIGIN


@pytest.mark.parametrize("kind", ["streaming", "buffered"])
def test_what_an_answer_leaves_running_has_ended_when_its_call_is_over(
    kind: str, request: pytest.FixtureRequest
) -> None:
    api: Trial = request.getfixturevalue(kind)
    before = httpx.get(f"{api.url}/api/finished", timeout=60).json()
    httpx.get(f"{api.url}/api/events?number=1&left_running=0.3", timeout=60)
    assert httpx.get(f"{api.url}/api/finished", timeout=60).json() == before + 1


@pytest.mark.parametrize("streams", [True, False])
def test_what_takes_too_long_ends_before_lambda_kills_it(streams: bool, artifacts: Artifacts) -> None:
    with trial(artifacts, streams=streams, seconds=4) as api:
        slow = httpx.get(f"{api.url}/api/slow?seconds=20", headers={"Origin": ORIGIN}, timeout=60)
        assert slow.status_code == 503
        assert slow.json()["code"] == "unavailable"
        assert slow.headers["access-control-allow-origin"] == ORIGIN
        with httpx.stream("GET", f"{api.url}/api/events?number=2&pause=20", timeout=60) as response:
            came = b"".join(response.iter_raw())
        assert came == (b"data: 0\n\n")
        httpx.get(f"{api.url}/api/events?number=1&left_running=20", timeout=60)
        (worker,) = api.host.workers["TrialFunction"]
        assert worker.is_alive


def test_with_a_domain_of_its_own_the_api_answers_under_any_path(artifacts: Artifacts) -> None:
    with trial(artifacts, streams=True, base_path="v1") as api:
        assert httpx.post(f"{api.url}/api/echo/a%20b", timeout=60).json()["name"] == "a b"
        assert httpx.get(f"{api.url}/api/events?number=1", timeout=60).text == "data: 0\n\n"
    with trial(artifacts, streams=True, base_path="") as api:
        assert httpx.post(f"{api.url}/api/echo/a", timeout=60).json()["name"] == "a"
