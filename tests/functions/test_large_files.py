"""Case Y1: what is too large for the way through a function goes past it."""

import base64
import hashlib
import io
import json
import wave
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
import requests  # what the imitated bucket listens to

from tertulia.entrypoints.gateway.responses import MOST_RESPONSE_BYTES
from tests.functions.conftest import Cloud
from tests.functions.test_functions import json_of

ORIGIN = "http://localhost:3000"
MEGABYTE = 1024 * 1024
FILE = bytes(range(256)) * (5 * MEGABYTE // 256)
LONG = "This is said at some length. " * 340


def asked(kind: str = "application/json") -> dict[str, Any]:
    """Return the headers of a page's request."""
    told = {"Content-Type": kind, "Origin": ORIGIN, "Host": "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"}
    return {"multiValueHeaders": {name: [value] for name, value in told.items()}}


def announce(cloud: Cloud, data: bytes, purpose: str, **more: Any) -> dict[str, Any]:
    told = {"purpose": purpose, "filename": "a.bin", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    body = json.dumps(told | more)
    return cloud.call("voice", "rest_chat", **_to("/api/uploads"), body=body, **asked())


def sent(cloud: Cloud, data: bytes, purpose: str, other: bytes | None = None) -> str:
    """Upload a file as its client does, or other bytes in its place."""
    upload = json_of(announce(cloud, data, purpose), 201)
    assert set(upload) == {"upload_id", "method", "url", "fields", "expires_at"}
    files = {"file": ("a.bin", data if other is None else other)}
    assert requests.request(upload["method"], upload["url"], data=upload["fields"], files=files, timeout=9).ok
    return str(upload["upload_id"])


def form(cloud: Cloud, function: str, path: str, **fields: str) -> dict[str, Any]:
    kind = asked("application/x-www-form-urlencoded")
    return cloud.call(function, "rest_chat", **_to(path), body=urlencode(fields), **kind)


def header(response: dict[str, Any], name: str) -> Any:
    several = {key.lower(): values[0] for key, values in (response.get("multiValueHeaders") or {}).items()}
    return {**{key.lower(): value for key, value in (response.get("headers") or {}).items()}, **several}.get(name)


def _to(path: str) -> dict[str, Any]:
    return {"path": path, "resource": path}


def test_a_file_that_no_function_is_sent_is_sent_to_the_bucket(cloud: Cloud) -> None:
    upload = json_of(announce(cloud, FILE, "attachment"), 201)
    assert upload["method"] == "POST"
    assert urlsplit(upload["url"]).hostname == "tertulia.s3.eu-central-1.amazonaws.com"
    assert "file" not in upload["fields"]


def test_an_uploaded_recording_is_heard_whole_by_every_route_that_hears(cloud: Cloud) -> None:
    upload_id = sent(cloud, FILE, "audio")
    response = form(cloud, "voice", "/api/voice", upload_id=upload_id)
    assert response["statusCode"] == 200, response
    assert json_of(form(cloud, "voice", "/api/stt", upload_id=upload_id))["outcome"] == "speech"
    heard = cloud.assistant.transcriber.heard  # type: ignore[attr-defined]  # the scripted one remembers
    assert [utterance.data == FILE for utterance in heard] == [True, True]
    again = form(cloud, "voice", "/api/stt", upload_id=upload_id)
    assert json_of(again, 404)["code"] == "not_found"


def test_an_uploaded_file_comes_with_a_question_of_every_kind(cloud: Cloud) -> None:
    upload_id = sent(cloud, FILE, "attachment")
    spoken = cloud.call(
        "chat", "rest_chat", body=json.dumps({"text": "Read it", "attachments": [upload_id]}), **asked()
    )
    screen = form(cloud, "chat", "/api/chat/send-with-file", upload_id=upload_id, message="Read it")
    for response in (spoken, screen):
        path = f"/api/chat/conversations/{json_of(response)['conversation_id']}"
        kept = json_of(cloud.call("conversations", "rest_conversations", path=path))
        assert kept["messages"][0]["attachments"][0] == {
            "name": "a.bin",
            "media_type": "application/octet-stream",
            "size": len(FILE),
        }


@pytest.mark.parametrize("other", [FILE[:-1], FILE[::-1]])
def test_a_file_that_is_not_the_announced_one_is_refused_when_it_is_used(cloud: Cloud, other: bytes) -> None:
    upload_id = sent(cloud, FILE, "audio", other)
    assert json_of(form(cloud, "voice", "/api/voice", upload_id=upload_id), 422)["code"] == "invalid_value"


def test_a_file_of_another_purpose_is_refused(cloud: Cloud) -> None:
    upload_id = sent(cloud, b"words", "attachment")
    assert json_of(form(cloud, "voice", "/api/voice", upload_id=upload_id), 422)["code"] == "invalid_value"


def test_twenty_megabytes_are_let_in_and_one_byte_more_is_refused_before_it_is_sent(cloud: Cloud) -> None:
    assert announce(cloud, b"", "attachment", bytes=20 * MEGABYTE)["statusCode"] == 201
    refused = announce(cloud, b"", "attachment", bytes=20 * MEGABYTE + 1)
    assert json_of(refused, 413)["code"] == "too_large"
    assert "at most 20 MB" in json_of(refused, 413)["detail"]
    assert header(refused, "access-control-allow-origin") == ORIGIN


@pytest.mark.parametrize(
    ("function", "path", "field"),
    [("chat", "/api/chat/send-with-file", "file"), ("voice", "/api/voice", "audio"), ("voice", "/api/stt", "audio")],
)
def test_a_file_too_large_to_come_with_its_request_is_told_the_other_way(
    cloud: Cloud, function: str, path: str, field: str
) -> None:
    head = f'--x\r\nContent-Disposition: form-data; name="{field}"; filename="a"\r\n\r\n'
    body = base64.b64encode(head.encode() + bytes(4 * MEGABYTE) + b"\r\n--x--\r\n").decode()
    kind = asked("multipart/form-data; boundary=x")
    refused = cloud.call(function, "rest_chat", **_to(path), body=body, isBase64Encoded=True, **kind)
    problem = json_of(refused, 413)
    assert (problem["code"], problem["error"]) == ("too_large", problem["detail"])
    assert "4 MB" in problem["detail"]
    assert "POST /api/uploads" in problem["detail"]
    assert header(refused, "access-control-allow-origin") == ORIGIN


def test_speech_too_large_for_its_answer_is_fetched_from_the_bucket(cloud: Cloud) -> None:
    response = cloud.call("tts", "rest_tts", body=json.dumps({"text": LONG}), **asked())
    assert response["statusCode"] == 302, response["statusCode"]
    assert response["body"] == ""
    assert header(response, "access-control-allow-origin") == ORIGIN
    assert header(response, "content-type") is None
    fetched = requests.get(header(response, "location"), timeout=9)
    assert fetched.headers["content-type"] == "audio/wav"
    assert len(fetched.content) * 4 // 3 > MOST_RESPONSE_BYTES
    with wave.open(io.BytesIO(fetched.content)) as sound:
        assert sound.getnframes() / sound.getframerate() > 90
    (kept,) = cloud.s3.list_objects_v2(Bucket="tertulia")["Contents"]
    assert kept["Key"].startswith("answers/")


def test_where_the_bucket_fails_the_answer_says_so(cloud: Cloud) -> None:
    cloud.s3.delete_bucket(Bucket="tertulia")
    response = cloud.call("tts", "rest_tts", body=json.dumps({"text": LONG}), **asked())
    assert json_of(response, 503)["code"] == "not_configured"
    assert header(response, "access-control-allow-origin") == ORIGIN


def test_the_document_of_the_whole_api_is_served_by_one_function_that_has_the_routes_of_none(cloud: Cloud) -> None:
    served = json_of(cloud.call("health", "rest_conversations", **_to("/api/openapi.json")))
    assert {"/api/chat", "/api/voice", "/api/me", "/api/chat/conversations"} < set(served["paths"])
    unknown = cloud.call("health", "rest_conversations")
    assert json_of(unknown, 404)["code"] == "not_found"
