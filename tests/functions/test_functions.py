"""What the functions promise: the same answers as the local server, whatever API Gateway makes of a request."""

import asyncio
import base64
import hashlib
import json
import logging
import sys
import wave
from io import BytesIO
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tertulia.entrypoints.aws import cloud_settings
from tertulia.settings import SettingsError
from tests.functions.conftest import REGION, Cloud

USER = "user-1"


def body_of(response: dict[str, Any]) -> bytes:
    body: str = response["body"]
    return base64.b64decode(body) if response["isBase64Encoded"] else body.encode()


def json_of(response: dict[str, Any], status: int = 200) -> Any:
    assert response["statusCode"] == status, response
    assert not response["isBase64Encoded"]
    return json.loads(response["body"])


def events_of(response: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.splitlines() for block in response["body"].split("\n\n") if block and not block.startswith(":")]
    return [(block[0].removeprefix("event: "), json.loads(block[1].removeprefix("data: "))) for block in blocks]


@pytest.mark.parametrize(
    "event", ["rest_conversations", "http_conversations_stage_in_path", "http_conversations_default_stage"]
)
def test_a_stage_before_the_path_does_not_matter(event: str, cloud: Cloud) -> None:
    assert json_of(cloud.call("conversations", event))["conversations"] == []


def test_three_turns_in_one_warm_environment_are_three_answers(cloud: Cloud) -> None:
    for text in ("one", "two", "three"):
        response = cloud.call("chat", "rest_chat", body=json.dumps({"text": text}))
        assert json_of(response)["response"] == "Hello there."
    titles = [each["title"] for each in json_of(cloud.call("conversations", "rest_conversations"))["conversations"]]
    assert sorted(titles) == ["one", "three", "two"]


def test_a_turn_is_kept_before_the_function_returns(cloud: Cloud) -> None:
    answered = json_of(cloud.call("chat", "rest_chat"))
    # Nothing runs between two calls of a function: what another one finds now was written before.
    kept = json_of(
        cloud.call("conversations", "rest_conversations", path=f"/api/chat/conversations/{answered['conversation_id']}")
    )
    assert [message["content"] for message in kept["messages"]] == [
        "What is the capital of France? ¿Sí? 你好",
        "Hello there.",
    ]


def test_nothing_is_left_running_after_the_function_returned(cloud: Cloud) -> None:

    cloud.call("chat", "rest_chat_stream")
    assert asyncio.all_tasks(cloud.environment.loop) == set()


def test_the_same_message_twice_is_one_turn(cloud: Cloud) -> None:
    first, second = (json_of(cloud.call("chat", "rest_chat")) for _ in range(2))
    assert first["turn_id"] == second["turn_id"]
    assert len(json_of(cloud.call("conversations", "rest_conversations"))["conversations"]) == 1


def test_a_stream_is_answered_whole_and_in_order(cloud: Cloud) -> None:
    response = cloud.call("chat", "rest_chat_stream")
    assert response["statusCode"] == 200
    assert (
        response["multiValueHeaders"]
        .get("content-type", [response["headers"].get("content-type")])[0]
        .startswith("text/event-stream")
    )
    names = [name for name, _ in events_of(response)]
    assert names[0] == "route"
    assert names[-1] == "done"
    assert names.count("done") == 1
    words = "".join(data["text"] for name, data in events_of(response) if name == "token")
    assert words == events_of(response)[-1][1]["response"] == "Hello there."


def test_an_uploaded_file_keeps_every_byte_and_its_name(cloud: Cloud) -> None:
    json_of(cloud.call("chat", "rest_send_with_file"))
    objects = cloud.s3.list_objects_v2(Bucket="tertulia")["Contents"]
    assert len(objects) == 1
    stored = cloud.s3.get_object(Bucket="tertulia", Key=objects[0]["Key"])
    assert hashlib.sha256(stored["Body"].read()).digest() == hashlib.sha256(bytes(range(256)) * 4).digest()
    listed = json_of(cloud.call("conversations", "rest_conversations"))["conversations"]
    kept = json_of(cloud.call("conversations", "rest_conversations", path=f"/api/chat/conversations/{listed[0]['id']}"))
    assert kept["messages"][0]["attachments"][0]["name"] == "año 图.bin"


def test_a_recording_arrives_exactly_and_the_answer_is_sound(cloud: Cloud) -> None:
    response = cloud.call("voice", "rest_voice")
    assert response["statusCode"] == 200
    assert response["isBase64Encoded"]
    with wave.open(BytesIO(body_of(response))) as sound:
        assert sound.getnframes() > 0
    heard = cloud.assistant.transcriber.heard  # type: ignore[attr-defined]  # the scripted one remembers
    assert heard[0].data == bytes(range(256)) * 2


def test_a_text_is_said_aloud(cloud: Cloud) -> None:
    response = cloud.call("tts", "rest_tts")
    with wave.open(BytesIO(body_of(response))) as sound:
        assert sound.getframerate() == 24_000


def test_a_route_is_told(cloud: Cloud) -> None:
    assert json_of(cloud.call("router", "rest_route")) == {"route": "simple", "reason": "classifier"}


def test_a_function_answers_its_own_routes_only(cloud: Cloud) -> None:
    assert json_of(cloud.call("tts", "rest_chat"), 404)["code"] == "not_found"


def test_failures_are_readable_json_even_without_binary_decoding(cloud: Cloud) -> None:
    assert json_of(cloud.call("chat", "rest_broken_json"), 400)["code"] == "invalid_request"


@pytest.mark.parametrize(
    "context", [{}, {"authorizer": None}, {"authorizer": {}}, {"authorizer": {"principalId": "ana"}}]
)
def test_nobody_is_served_whom_the_authorizer_did_not_name(cloud: Cloud, context: dict[str, Any]) -> None:
    response = cloud.call("chat", "rest_chat", requestContext={"stage": "prod", "httpMethod": "POST", **context})
    assert json_of(response, 401)["code"] == "unauthorized"


def test_the_user_is_the_one_whom_the_authorizer_named_whatever_the_headers_say(cloud: Cloud) -> None:
    asked = {"path": "/api/chat/conversations"}
    cloud.call("chat", "rest_chat")
    for told, found in ((_told("user-1"), 1), (_told("ana"), 0)):
        listed = json_of(cloud.call("conversations", "rest_conversations", **asked, requestContext=told))
        assert len(listed["conversations"]) == found


def test_scopes_hold_in_the_cloud(cloud: Cloud) -> None:
    response = cloud.call("chat", "rest_chat", requestContext=_told("ana", scopes="read admin of-a-later-version"))
    assert json_of(response, 403)["code"] == "forbidden"


def test_a_session_in_the_cloud_writes_from_a_page_of_ours_only(cloud: Cloud) -> None:
    told = _told("user-1", by="session")
    assert json_of(cloud.call("chat", "rest_chat", requestContext=told), 403)["code"] == "origin"
    event: dict[str, Any] = json.loads((Path(__file__).parents[1] / "events/rest_chat.json").read_text("utf-8"))
    own = {"Origin": [f"https://{event['headers']['Host']}"], "Sec-Fetch-Site": ["same-origin"]}
    headers = {"multiValueHeaders": event["multiValueHeaders"] | own}
    assert json_of(cloud.call("chat", "rest_chat", requestContext=told, **headers))["response"] == "Hello there."


def _told(user: str, scopes: str = "read turns", by: str = "token") -> dict[str, Any]:
    authorizer = {"principalId": user, "user": user, "scopes": scopes, "by": by}
    return {"stage": "prod", "httpMethod": "POST", "authorizer": authorizer}


def test_no_words_of_people_and_no_keys_are_logged(capsys: pytest.CaptureFixture[str], cloud: Cloud) -> None:
    [handler] = logging.getLogger("tertulia").handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.stream = sys.stdout  # the one it began with is closed, and is not what this test captures
    cloud.call("chat", "rest_chat")
    logging.getLogger("tertulia.anything").warning("something to look at")
    logged = capsys.readouterr()
    lines = [json.loads(line) for line in logged.out.splitlines()]
    assert any(line.get("Requests") == [1.0] for line in lines)
    assert any(line.get("message") == "something to look at" for line in lines)
    for secret in ("capital of France", "Hello there", "token-of-ana"):
        assert secret not in logged.out + logged.err


def test_the_stores_of_a_laptop_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERTULIA_PROFILE", "embedded")
    with pytest.raises(SettingsError, match="TERTULIA_PROFILE must be aws"):
        cloud_settings()


def test_keys_come_from_the_parameter_store_under_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_DEFAULT_REGION": REGION, "AWS_ACCESS_KEY_ID": "n", "AWS_SECRET_ACCESS_KEY": "n"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TERTULIA_PROFILE", "aws")
    monkeypatch.setenv("TERTULIA_SECRETS_PATH", "/tertulia/test")
    with mock_aws():
        store = boto3.client("ssm", region_name=REGION)
        for name in ("GROQ_API_KEY", "TERTULIA_API_TOKEN", "SOMETHING_ELSE"):
            store.put_parameter(Name=f"/tertulia/test/{name}", Value=f"value-of-{name}", Type="SecureString")
        settings = cloud_settings()
    assert settings.groq_api_key is not None
    assert settings.groq_api_key.get_secret_value() == "value-of-GROQ_API_KEY"
    assert settings.api_token is not None
    assert settings.api_token.get_secret_value() == "value-of-TERTULIA_API_TOKEN"


def test_the_way_to_the_functions_is_open_without_anything_made_ready(cloud: Cloud) -> None:
    assert json_of(cloud.call("health", "rest_conversations", path="/api/health"))["status"] == "ok"
