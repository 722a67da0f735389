"""Files sent apart from the request that uses them."""

import hashlib
import tracemalloc
from typing import Any

import httpx
import pytest

from tertulia.assistant import Assistant
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.http.clients import ANA, BEN, client_of, is_problem, wav

MEGABYTE = 1024 * 1024


def about(data: bytes, purpose: str = "attachment", **more: Any) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    return {"purpose": purpose, "filename": "a.txt", "content_type": "", "bytes": len(data), "sha256": digest} | more


async def uploaded(client: httpx.AsyncClient, data: bytes, purpose: str = "attachment", **more: Any) -> str:
    answer = await client.post("/api/uploads", json=about(data, purpose, **more))
    assert answer.status_code == 201, answer.text
    upload = answer.json()
    assert set(upload) == {"upload_id", "method", "url", "fields", "expires_at"}
    sent = await client.request(upload["method"], upload["url"], content=data)
    assert sent.status_code == 204, sent.text
    return str(upload["upload_id"])


async def test_an_uploaded_recording_is_answered(client: httpx.AsyncClient) -> None:
    upload_id = await uploaded(client, wav(), "audio")

    voice = await client.post("/api/voice", data={"upload_id": upload_id})
    text = await client.post("/api/stt", data={"upload_id": upload_id})

    assert voice.headers["content-type"] == "audio/wav"
    assert text.json()["text"] == "What is the capital of France?"


async def test_an_uploaded_file_is_read_with_a_question(client: httpx.AsyncClient) -> None:
    upload_id = await uploaded(client, b"Lisbon is sunny.", filename="../../notes.txt")

    spoken = await client.post("/api/chat", json={"text": "Sum this up", "attachments": [upload_id]})
    screen = await client.post("/api/chat/send-with-file", data={"message": "", "upload_id": upload_id})

    kept = (await client.get(f"/api/chat/conversations/{spoken.json()['conversation_id']}")).json()
    assert kept["messages"][0]["attachments"] == [{"name": "notes.txt", "media_type": "text/plain", "size": 16}]
    assert screen.status_code == 200


async def test_twenty_megabytes_are_taken_and_one_byte_more_is_not(client: httpx.AsyncClient) -> None:
    """Case Y1."""
    await uploaded(client, bytes(20 * MEGABYTE))

    over = await client.post("/api/uploads", json=about(b"", bytes=20 * MEGABYTE + 1))

    assert is_problem(over, 413, "too_large")
    assert "File too large" in over.json()["detail"]
    assert (await client.post("/api/uploads", json=about(b"", "audio", bytes=25_000_000))).status_code == 201


@pytest.mark.parametrize("sent", [b"", b"other words", b"Lisbon is sunny!", b"Lisbon is sunny. "])
async def test_what_was_not_announced_is_not_taken(client: httpx.AsyncClient, sent: bytes) -> None:
    upload = (await client.post("/api/uploads", json=about(b"Lisbon is sunny."))).json()

    assert is_problem(await client.put(upload["url"], content=sent), 422, "invalid_value")
    early = await client.post("/api/chat", json={"text": "a", "attachments": [upload["upload_id"]]})
    assert is_problem(early, 422, "invalid_value")
    assert (await client.put(upload["url"], content=b"Lisbon is sunny.")).status_code == 204


async def test_a_ticket_serves_once(client: httpx.AsyncClient) -> None:
    upload = (await client.post("/api/uploads", json=about(b"a"))).json()
    await client.put(upload["url"], content=b"a")

    assert is_problem(await client.put(upload["url"], content=b"a"), 409, "conflict")


async def test_a_file_cannot_be_used_for_another_purpose(client: httpx.AsyncClient) -> None:
    upload_id = await uploaded(client, b"a", "attachment")

    assert is_problem(await client.post("/api/voice", data={"upload_id": upload_id}), 422, "invalid_value")


@pytest.mark.parametrize("ticket", ["", "x", "x.y", "dXNlci0x.wrong", "é", "////.x"])
async def test_a_made_up_ticket_opens_nothing(client: httpx.AsyncClient, ticket: str) -> None:
    upload = (await client.post("/api/uploads", json=about(b"a"))).json()

    response = await client.put(f"/api/uploads/{upload['upload_id']}", params={"ticket": ticket}, content=b"a")

    assert is_problem(response, 404, "not_found")


@pytest.mark.parametrize(
    ("wrong", "status", "code"),
    [
        ({"purpose": "photo"}, 422, "invalid_value"),
        ({"purpose": None}, 422, "invalid_value"),
        ({"bytes": -1}, 422, "invalid_value"),
        ({"bytes": "many"}, 400, "invalid_request"),
        ({"bytes": 10**30}, 413, "too_large"),
        ({"sha256": "abc"}, 422, "invalid_value"),
        ({"sha256": 5}, 400, "invalid_request"),
    ],
)
async def test_a_bad_announcement_is_refused(
    client: httpx.AsyncClient, wrong: dict[str, object], status: int, code: str
) -> None:
    assert is_problem(await client.post("/api/uploads", json=about(b"a") | wrong), status, code)


async def test_another_users_upload_is_not_found(shared: httpx.AsyncClient) -> None:
    """Case J6."""
    answer = await shared.post("/api/uploads", json=about(b"a"), headers=ANA)
    await shared.put(answer.json()["url"], content=b"a")
    wish = {"text": "Read it", "attachments": [answer.json()["upload_id"]]}

    assert is_problem(await shared.post("/api/chat", json=wish, headers=BEN), 404, "not_found")
    assert (await shared.post("/api/chat", json=wish, headers=ANA)).status_code == 200


async def test_an_upload_is_usable_for_an_hour(make_assistant: MakeAssistant) -> None:
    clock = FakeClock()
    assistant: Assistant = make_assistant(clock=clock)
    async with client_of(assistant) as client:
        upload_id = await uploaded(client, b"a")
        clock.move(minutes=61)
        late = await client.post("/api/chat", json={"text": "Read it", "attachments": [upload_id]})

    assert is_problem(late, 404, "not_found")


async def test_the_files_of_a_question_are_taken_in_one_after_the_other(client: httpx.AsyncClient) -> None:
    """Twenty files of 20 MB at once would not fit in a function's memory."""
    files = [b"\x89PNG\r\n\x1a\n" + bytes([number]) * 4 * MEGABYTE for number in range(6)]
    upload_ids = [await uploaded(client, data) for data in files]
    tracemalloc.start()
    answer = await client.post("/api/chat", json={"text": "Look at them", "attachments": upload_ids})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.status_code == 200, answer.text
    assert most < 3 * len(files[0])
