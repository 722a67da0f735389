"""Case Y1 in the deployment: files go past the functions to the bucket, by a form that a client really sends."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.lambdas.cloud import LocalCloud
from tests.sounds import pcm_format, tone, wav

ORIGIN = "http://localhost:3000"
MEGABYTE = 1024 * 1024


@pytest.fixture
def client(local_cloud: LocalCloud) -> Iterator[httpx.Client]:
    token = local_cloud.token_of("sends-large-files")
    headers = {"Authorization": f"Bearer {token}", "Origin": ORIGIN}
    with httpx.Client(base_url=local_cloud.url, headers=headers, timeout=120) as made:
        yield made


def announced(client: httpx.Client, data: bytes, purpose: str, **more: Any) -> httpx.Response:
    told = {"purpose": purpose, "filename": "a.bin", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return client.post("/api/uploads", json=told | more)


def uploaded(client: httpx.Client, data: bytes, purpose: str) -> str:
    answer = announced(client, data, purpose)
    assert answer.status_code == 201, answer.text
    upload = answer.json()
    left = datetime.fromisoformat(upload["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=55) < left <= timedelta(hours=1)
    # As any client that has no token: the form alone is what lets it in.
    sent = httpx.request(upload["method"], upload["url"], data=upload["fields"], files={"file": data}, timeout=60)
    assert sent.is_success, sent.text
    return str(upload["upload_id"])


def test_twenty_megabytes_come_with_a_question_and_one_byte_more_is_refused(client: httpx.Client) -> None:
    data = bytes(range(256)) * (20 * MEGABYTE // 256)
    upload_id = uploaded(client, data, "attachment")
    answer = client.post("/api/chat/send-with-file", files={"upload_id": (None, upload_id), "message": (None, "Read")})
    assert answer.status_code == 200, answer.text
    kept = client.get(f"/api/chat/conversations/{answer.json()['conversation_id']}").json()
    assert kept["messages"][0]["attachments"][0]["size"] == len(data)
    refused = announced(client, b"", "attachment", bytes=len(data) + 1)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert refused.headers["access-control-allow-origin"] == ORIGIN


def test_a_recording_as_large_as_a_vendor_takes_is_heard_whole(client: httpx.Client, local_cloud: LocalCloud) -> None:
    # Nine minutes: sound is refused after ten.
    data = wav(tone(1.0, 22_050) * 560, form=pcm_format(rate=22_050))
    assert 24_500_000 < len(data) <= 25_000_000
    answer = client.post("/api/stt", files={"upload_id": (None, uploaded(client, data, "audio"))})
    assert answer.status_code == 200, answer.text
    assert answer.json()["outcome"] == "speech"
    assert local_cloud.vendor.asked["hearing"][-1].file == data


def test_the_document_of_the_api_is_there_for_everyone(local_cloud: LocalCloud) -> None:
    answer = httpx.get(f"{local_cloud.url}/api/openapi.json", headers={"Origin": ORIGIN}, timeout=60)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert {"/api/chat", "/api/voice", "/api/uploads", "/api/me"} < set(answer.json()["paths"])
