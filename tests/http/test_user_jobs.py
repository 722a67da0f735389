"""Everything of a user's as a file, and all of it erased, over HTTP."""

import asyncio
import io
import json
import zipfile
from typing import Any

import httpx
import pytest

from tertulia.assistant import Assistant
from tertulia.domain.errors import Unavailable
from tertulia.domain.user_jobs import UserJob, UserJobKind
from tertulia.ports import Blob
from tests.conftest import MakeAssistant
from tests.http.clients import ANA, BEN, is_problem

REMINDER = {"text": "call Ben 📞", "when": "in 3 hours"}


async def filled(client: httpx.AsyncClient, assistant: Assistant, user: str, who: dict[str, str]) -> str:
    """Give a user something of everything; returns a conversation."""
    talk = (await client.post("/api/chat", json={"text": f"I am {user}"}, headers=who)).json()
    await client.post("/api/reminders", json=REMINDER, headers=who)
    await assistant.stores.todos.add(user, "buy milk")
    now = assistant.clock.now()
    blob = Blob(key="photos/1", data=b"\xff\xd8picture", name="p.jpg", media_type="image/jpeg", created_at=now)
    await assistant.blobs.put(user, blob)
    return str(talk["conversation_id"])


async def ended(client: httpx.AsyncClient, job: dict[str, Any], who: dict[str, str]) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while job["status"] == "running":
            await asyncio.sleep(0.02)
            job = (await client.get(f"/api/me/jobs/{job['id']}", headers=who)).json()
    return job


async def test_an_export_is_a_zip_of_everything_and_of_nobody_elses(
    shared: httpx.AsyncClient, assistant: Assistant
) -> None:
    talk = await filled(shared, assistant, "ana", ANA)
    await filled(shared, assistant, "ben", BEN)
    begun = await shared.post("/api/me/export", headers=ANA)
    assert begun.status_code == 202
    done = await ended(shared, begun.json(), ANA)

    assert done["status"] == "done"
    assert done["counts"] | {"conversations": 1, "reminders": 1, "todos": 1, "files": 1} == done["counts"]
    sent = await shared.get(done["url"], headers=ANA)
    assert sent.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert archive.testzip() is None
        told = {name: archive.read(name) for name in archive.namelist()}
    assert told["files/photos/1"] == b"\xff\xd8picture"
    [conversation] = [json.loads(line) for line in told["conversations.jsonl"].splitlines()]
    assert conversation["id"] == talk
    assert conversation["turns"][0]["text"] == "I am ana"
    assert json.loads(told["reminders.jsonl"])["text"] == "call Ben 📞"
    assert b"ben" not in b"".join(told.values()).replace(b"call Ben", b"")
    [event] = [each.event for each in await assistant.user_events.read("ana", 0) if each.event.name == "job"]
    assert event.data == {"id": done["id"], "kind": "export", "status": "done"}


async def test_a_deletion_erases_everything_names_each_store_and_leaves_others_alone(
    shared: httpx.AsyncClient, assistant: Assistant
) -> None:
    talk = await filled(shared, assistant, "ana", ANA)
    await filled(shared, assistant, "ben", BEN)
    await ended(shared, (await shared.post("/api/me/export", headers=ANA)).json(), ANA)
    done = await ended(shared, (await shared.delete("/api/me", headers=ANA)).json(), ANA)

    assert done["status"] == "done"
    assert done["counts"] | {"conversations": 1, "reminders": 1, "todos": 1, "files": 2} == done["counts"]
    assert done["url"] is None
    assert (await shared.get("/api/reminders", headers=ANA)).json() == {"reminders": []}
    gone = await shared.get(f"/api/chat/conversations/{talk}", headers=ANA)
    assert is_problem(gone, 404, "not_found")
    assert await assistant.user_events.last("ana") == 0
    assert await assistant.stores.blobs.older("ana", assistant.clock.now()) == []
    again = await ended(shared, (await shared.delete("/api/me", headers=ANA)).json(), ANA)
    assert {name: count for name, count in again["counts"].items() if count} == {"settings": 1}
    assert len((await shared.get("/api/reminders", headers=BEN)).json()["reminders"]) == 1
    assert len(await assistant.stores.todos.list("ben")) == 1


async def test_a_deletion_that_was_cut_off_goes_on_and_counts_on(
    shared: httpx.AsyncClient, assistant: Assistant, make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(shared, assistant, "ana", ANA)
    desk = assistant.user_jobs
    job = UserJob(id="0" * 16, user="ana", kind=UserJobKind.DELETION, created_at=assistant.clock.now())
    await desk.jobs.put(job)

    async def cut_off(_: str) -> int:
        raise asyncio.CancelledError

    monkeypatch.setattr(assistant.journal, "delete_all", cut_off)
    broken = make_assistant(journal=assistant.journal)
    with pytest.raises(asyncio.CancelledError):
        await broken.user_jobs.run(job)
    monkeypatch.undo()
    [left] = await desk.jobs.running()
    assert left.counts["conversations"] == 1

    restarted = make_assistant()
    await restarted.user_jobs.resume()
    done = await ended(shared, {"id": job.id, "status": "running"}, ANA)
    assert done["counts"] | {"conversations": 1, "reminders": 1, "todos": 1, "files": 1} == done["counts"]


async def test_a_job_that_fails_says_so(
    shared: httpx.AsyncClient, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(_: str, __: Blob) -> None:
        raise Unavailable

    monkeypatch.setattr(assistant.blobs, "put", failing)
    done = await ended(shared, (await shared.post("/api/me/export", headers=ANA)).json(), ANA)
    assert (done["status"], done["error"], done["url"]) == ("failed", "unavailable", None)
    assert is_problem(await shared.get(f"/api/me/jobs/{done['id']}/file", headers=ANA), 404, "not_found")


async def test_another_users_job_is_not_found(shared: httpx.AsyncClient) -> None:
    job = (await shared.post("/api/me/export", headers=ANA)).json()
    for known in (job["id"], "0" * 16, "nonsense"):
        for end in ("", "/file"):
            assert is_problem(await shared.get(f"/api/me/jobs/{known}{end}", headers=BEN), 404, "not_found")
