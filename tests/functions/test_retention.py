"""The daily run and the limits in the cloud, through the handlers as they are deployed."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tertulia.domain.accounts import UserSettings
from tertulia.domain.errors import NotFound
from tertulia.domain.turns import Attachment, Conversation
from tertulia.entrypoints.tasks import Retryable
from tertulia.entrypoints.telemetry import measure_cost
from tertulia.ports import Blob
from tests.fakes.kept_turns import a_turn
from tests.functions.conftest import Cloud, Context
from tests.functions.handlers import task_of

EVENT = json.loads((Path(__file__).parents[1] / "events/schedule_daily.json").read_text("utf-8"))


async def kept_by(cloud: Cloud, user: str) -> Conversation:
    """Keep a conversation with a file, for a user who wants a week of them."""
    assistant = cloud.assistant
    await assistant.users.add(user)
    await assistant.users.save_settings(user, UserSettings(retention_days=7))
    now = assistant.clock.now()
    await assistant.blobs.put(user, Blob(key="f", data=b"x", name="f", media_type="text/plain", created_at=now))
    conversation = await assistant.conversations.open(user, None)
    file = Attachment(name="f", media_type="text/plain", size=1, key="f")
    await assistant.conversations.append(conversation, a_turn(f"t-{user}", attachments=(file,)))
    return conversation


def a_week_later(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    now = cloud.assistant.clock.now() + timedelta(days=8)
    monkeypatch.setattr(cloud.assistant.clock, "now", lambda: now)


def daily_run(cloud: Cloud) -> Any:
    return cloud.process.submit(task_of("retention"), EVENT, Context()).result()


def test_the_daily_run_deletes_what_is_too_old(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = cloud.run(kept_by(cloud, "ana"))
    assert daily_run(cloud) == {"users": 1, "conversations": 0, "files": 0}
    a_week_later(cloud, monkeypatch)
    assert daily_run(cloud)["conversations"] == 1
    for gone in (cloud.assistant.conversations.get("ana", kept.id), cloud.assistant.blobs.get("ana", "f")):
        with pytest.raises(NotFound):
            cloud.run(gone)
    assert daily_run(cloud)["conversations"] == 0


def test_a_run_that_failed_for_somebody_fails_at_its_end_and_is_repeated(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("ana", "ben"):
        cloud.run(kept_by(cloud, user))
    a_week_later(cloud, monkeypatch)
    real = cloud.assistant.conversations.delete

    async def failing(conversation: Conversation) -> None:
        if conversation.user == "ana":
            raise ValueError("damaged")
        await real(conversation)

    monkeypatch.setattr(cloud.assistant.conversations, "delete", failing)
    with pytest.raises(Retryable):
        daily_run(cloud)
    left = [cloud.run(cloud.assistant.conversations.page(user)).total for user in ("ana", "ben")]
    assert left == [1, 0]
    monkeypatch.setattr(cloud.assistant.conversations, "delete", real)
    assert daily_run(cloud)["conversations"] == 1


def test_the_cost_of_a_turn_is_counted_and_told_as_a_metric(cloud: Cloud, capsys: pytest.CaptureFixture[str]) -> None:
    cloud.assistant.spending.tell_cost(measure_cost)
    done = json.loads(cloud.call("chat", "rest_chat")["body"])
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "CostMicrodollars" in line]
    assert [line["CostMicrodollars"] for line in told] == [[done["receipt"]["cost_microdollars"]]]
    usage = json.loads(cloud.call("account", "rest_me", path="/api/me/usage")["body"])
    assert usage["total"]["turns"] == 1
    assert usage["total"]["tokens"] == done["receipt"]["tokens"]
