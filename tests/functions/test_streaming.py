"""Streamed answers in one process: the same handler, its answer posted to a Runtime API that listens."""

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from tertulia.entrypoints.streaming.client import StreamingClient
from tertulia.entrypoints.streaming.post import Post
from tertulia.entrypoints.streaming.response import PostedResponse, StreamResponse
from tertulia.settings import Settings
from tests.functions.conftest import Cloud, Context
from tests.functions.handlers import handler_of
from tests.http.event_reader import events_in
from tests.lambdas.runtime_api import FunctionFailed, Invocation, RuntimeApi

EVENTS = Path(__file__).parents[1] / "events"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Return settings of a deployment that streams."""
    return settings.model_copy(update={"streaming": True})


@dataclass
class Listening:
    """A Runtime API in a thread of its own."""

    api: RuntimeApi
    loop: asyncio.AbstractEventLoop

    def posted(self, response: StreamResponse, cloud: Cloud) -> tuple[dict[str, Any], bytes]:
        """Have a response posted; return what is told about it, and its body."""
        invocation = self.api.running = Invocation(b"{}", "arn", 30)
        client = StreamingClient(self.api.address)
        result, content_type = client.marshaller.marshal_response(response)
        cloud.process.submit(client.post_invocation_result, invocation.id, result, content_type).result()
        told, _, body = self.run(_whole(invocation)).partition(bytes(8))
        return json.loads(told), body

    def run(self, work: Any) -> Any:
        """Run something on the loop of the API."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


async def _whole(invocation: Invocation) -> bytes:
    return b"".join([part async for part in invocation.parts()])


@pytest.fixture
def listening() -> Iterator[Listening]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    listening = Listening(RuntimeApi(), loop)
    server = listening.run(listening.api.open())
    yield listening
    loop.call_soon_threadsafe(server.close)
    listening.run(server.wait_closed())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def called(cloud: Cloud, event: str, **changes: Any) -> StreamResponse:
    recorded = json.loads((EVENTS / f"{event}.json").read_text("utf-8")) | changes
    function = event.removeprefix("rest_").split("_")[0]
    answer = cloud.process.submit(handler_of(function), recorded, cast(LambdaContext, Context())).result()
    assert isinstance(answer, StreamResponse)
    return answer


def test_a_turn_is_streamed_by_the_handler_that_also_answers_whole(cloud: Cloud, listening: Listening) -> None:
    told, body = listening.posted(called(cloud, "rest_chat_stream"), cloud)
    assert told["statusCode"] == 200
    assert told["headers"]["content-type"].startswith("text/event-stream")
    assert "content-length" not in told["headers"]
    names = [event.name for event in events_in(body)]
    assert (names[0], names[-1]) == ("route", "done")
    assert asyncio.all_tasks(cloud.environment.loop) == set()
    assert "response" in json.loads(cloud.call("chat", "rest_chat")["body"])


def test_sound_is_streamed_byte_for_byte(cloud: Cloud, listening: Listening) -> None:
    told, body = listening.posted(called(cloud, "rest_tts"), cloud)
    assert told["headers"]["content-type"] == "audio/wav"
    assert body[:4] == b"RIFF"


def test_a_refusal_before_the_stream_begins_has_its_own_status(cloud: Cloud, listening: Listening) -> None:
    told, body = listening.posted(called(cloud, "rest_chat_stream", body="{"), cloud)
    assert told["statusCode"] == 400
    assert json.loads(body)["code"] == "invalid_request"


def test_when_nobody_takes_an_answer_the_application_learns_that_its_client_has_left(cloud: Cloud) -> None:
    async def sent_to_nobody() -> PostedResponse:
        response = PostedResponse(Post("127.0.0.1:1", "an-id"))
        await response.send({"type": "http.response.start", "status": 200, "headers": []})
        await response.send({"type": "http.response.body", "body": b"x"})
        await response.end({"type": "http", "headers": []}, None)
        return response

    assert cloud.run(sent_to_nobody()).leaving.is_set()


def test_an_answer_that_fails_before_its_first_byte_is_a_failure_with_a_status(
    cloud: Cloud, listening: Listening
) -> None:
    def failing(post: Post) -> None:
        cloud.environment.run(PostedResponse(post).end({"type": "http", "headers": []}, ValueError("words")))

    told, body = listening.posted(StreamResponse(failing), cloud)
    assert told["statusCode"] == 500
    assert b"words" not in body


def test_headers_and_cookies_that_repeat_are_told_one_by_one(cloud: Cloud, listening: Listening) -> None:
    headers = [(b"X-Two", b"1"), (b"x-two", b"2"), (b"Set-Cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"one", b"1")]

    def sending(post: Post) -> None:
        async def send() -> None:
            response = PostedResponse(post)
            await response.send({"type": "http.response.start", "status": 201, "headers": headers})
            await response.end({"type": "http", "headers": []}, None)

        cloud.environment.run(send())

    told, body = listening.posted(StreamResponse(sending), cloud)
    assert told == {
        "statusCode": 201,
        "headers": {"one": "1"},
        "multiValueHeaders": {"x-two": ["1", "2"]},
        "cookies": ["a=1", "b=2"],
    }
    assert body == b""


def test_what_breaks_off_says_so_after_what_was_sent(cloud: Cloud, listening: Listening) -> None:
    def breaking(post: Post) -> None:
        async def send() -> None:
            response = PostedResponse(post)
            await response.send({"type": "http.response.start", "status": 200, "headers": []})
            await response.send({"type": "http.response.body", "body": b"some"})
            await response.end({"type": "http", "headers": []}, ValueError("words"))

        cloud.environment.run(send())

    with pytest.raises(FunctionFailed) as told:
        listening.posted(StreamResponse(breaking), cloud)
    assert told.value.kind == "ValueError"
    assert b"words" not in told.value.payload
