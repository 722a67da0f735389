"""The same application behind an API Gateway, through the adapter that the Lambdas use."""

import asyncio
import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from mangum import Mangum

from tertulia.assistant import Assistant
from tertulia.entrypoints.http.app import create_app
from tertulia.entrypoints.http.context import Surroundings
from tertulia.settings import Settings
from tests.fakes.scripted import (
    NoMemories,
    OneLanguage,
    ScriptedClassifier,
    ScriptedDecoder,
    ScriptedDetector,
    ScriptedModel,
    ScriptedTranscriber,
    ToneVoice,
)
from tests.http.event_reader import events_in

CLOUD = Surroundings(hosts=None, visitor="user-1", most_body_bytes=4 * 1024 * 1024)


class Lambda:
    """One execution environment: a loop and an application that live over several calls."""

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        model = ScriptedModel()
        self.assistant = Assistant(
            Settings(data_dir=folder),
            chat_model=model,
            agent_model=model,
            classifier=ScriptedClassifier(),
            decoder=ScriptedDecoder(),
            detector=ScriptedDetector(),
            transcriber=ScriptedTranscriber(),
            synthesizer=ToneVoice(),
            languages=OneLanguage(),
            memories=NoMemories(),
            embedder=None,
        )
        self.assistant.is_ready = True
        self.handler = Mangum(create_app(self.assistant, surroundings=CLOUD), lifespan="off")

    def call(self, event: dict[str, Any]) -> dict[str, Any]:
        return dict(self.handler(event, None))  # type: ignore[arg-type]

    def close(self) -> None:
        self.loop.run_until_complete(self.assistant.close())
        self.loop.close()
        asyncio.set_event_loop(None)


@pytest.fixture
def environment(tmp_path: Path) -> Any:
    """Yield an execution environment."""
    environment = Lambda(tmp_path)
    yield environment
    environment.close()


def rest_event(method: str, path: str, body: bytes = b"", stage: str = "prod", **headers: str) -> dict[str, Any]:
    """Make an event of a REST API."""
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": {"Host": "x.execute-api.eu-west-1.amazonaws.com", **headers},
        "multiValueHeaders": {},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"stage": stage, "httpMethod": method, "identity": {"sourceIp": "192.0.2.1"}},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def http_event(path: str, stage: str) -> dict[str, Any]:
    """Make an event of an HTTP API."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"host": "x.execute-api.eu-west-1.amazonaws.com"},
        "requestContext": {"stage": stage, "http": {"method": "GET", "path": path, "sourceIp": "192.0.2.1"}},
        "isBase64Encoded": False,
    }


def body_of(answer: dict[str, Any]) -> bytes:
    """Return a body as the gateway passes it on."""
    body: str = answer["body"]
    return base64.b64decode(body) if answer["isBase64Encoded"] else body.encode()


@pytest.mark.parametrize(
    "event",
    [
        http_event("/prod/api/health", "prod"),
        http_event("/api/health", "$default"),
        rest_event("GET", "/api/health"),
        rest_event("GET", "/prod/api/health"),
    ],
)
def test_the_stage_is_no_part_of_the_path(environment: Lambda, event: dict[str, Any]) -> None:
    """Case X1."""
    assert environment.call(event)["statusCode"] == 200


def test_a_stream_that_is_collected_is_still_whole_and_in_order(environment: Lambda) -> None:
    """Case E7."""
    event = rest_event("POST", "/api/chat/stream", b'{"text": "Hello"}', **{"Content-Type": "application/json"})

    answer = environment.call(event)

    events = events_in(body_of(answer))
    assert answer["statusCode"] == 200
    assert "".join(event.json["text"] for event in events if event.name == "token") == "Hello there."
    assert events[-1].name == "done"
    assert [int(event.id) for event in events] == sorted(int(event.id) for event in events)


def test_a_warm_environment_answers_again_and_again(environment: Lambda) -> None:
    """Case X2, as far as the application goes."""
    event = rest_event("POST", "/api/chat", b'{"text": "Hello"}', **{"Content-Type": "application/json"})

    assert [environment.call(event)["statusCode"] for _ in range(3)] == [200, 200, 200]


def test_the_turn_is_kept_before_the_answer_leaves(environment: Lambda) -> None:
    """Case X4, as far as the application goes: nothing more runs in the loop before the store is read."""
    event = rest_event("POST", "/api/chat", b'{"text": "Hello"}', **{"Content-Type": "application/json"})
    turn_id = json.loads(environment.call(event)["body"])["turn_id"]

    found = environment.loop.run_until_complete(environment.assistant.conversations.find_turn("user-1", turn_id))

    assert found
    assert found[1].answer == "Hello there."


def test_uploaded_bytes_arrive_unchanged(environment: Lambda) -> None:
    """Case X6."""
    content = bytes(range(256)) * 64
    name = "año 图.bin"
    form = b"".join(
        [
            b'--x\r\nContent-Disposition: form-data; name="message"\r\n\r\nWhat is this?\r\n',
            f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'.encode(),
            b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n--x--\r\n",
        ]
    )
    event = rest_event("POST", "/api/chat/send-with-file", form, **{"Content-Type": "multipart/form-data; boundary=x"})

    answer = json.loads(environment.call(event)["body"])

    async def kept() -> tuple[str, bytes]:
        store = environment.assistant.conversations
        [turn] = await store.turns(await store.get("user-1", answer["conversation_id"]))
        [attachment] = turn.attachments
        return attachment.name, (await environment.assistant.blobs.get("user-1", attachment.key)).data

    kept_name, data = environment.loop.run_until_complete(kept())
    assert kept_name == name
    assert hashlib.sha256(data).digest() == hashlib.sha256(content).digest()


def test_a_body_too_large_for_the_gateway_is_a_clear_failure(environment: Lambda) -> None:
    """Case Y1."""
    event = rest_event("POST", "/api/voice", bytes(6_000_000), **{"Content-Type": "multipart/form-data; boundary=x"})

    answer = environment.call(event)

    assert answer["statusCode"] == 413
    assert "/api/uploads" in json.loads(body_of(answer))["detail"]
