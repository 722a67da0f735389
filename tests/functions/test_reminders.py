"""Reminders in the cloud: set over HTTP, rung by the bus, told by the stream, through the handlers as they are deployed."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from tertulia.adapters.aws.schedules import Schedules, ScheduleTarget
from tertulia.entrypoints.tasks import Refused
from tests.functions.conftest import NOBODY, Cloud, Context
from tests.functions.handlers import task_of

GROUP = "tertulia-reminders"
EVENT = json.loads((Path(__file__).parents[1] / "events/reminder_due.json").read_text("utf-8"))


@pytest.fixture
def scheduler(cloud: Cloud) -> Any:
    client = boto3.client("scheduler", **NOBODY)
    client.create_schedule_group(Name=GROUP)
    target = ScheduleTarget(
        group=GROUP, bus="arn:aws:events:eu-central-1:1:event-bus/default", role="arn:aws:iam::1:role/x"
    )
    cloud.assistant.alarms = Schedules(target, client)
    return client


def asked(cloud: Cloud, method: str, path: str, body: Any = None) -> Any:
    text = json.dumps(body) if body is not None else None
    changes = {"httpMethod": method, "path": path, "resource": path, "body": text, "isBase64Encoded": False}
    answer = cloud.call("reminders", "rest_reminders", **changes)
    return json.loads(answer["body"]) if answer["body"] else None


def schedules_in(scheduler: Any) -> list[Any]:
    listed = scheduler.list_schedules(GroupName=GROUP)["Schedules"]
    return [scheduler.get_schedule(GroupName=GROUP, Name=each["Name"]) for each in listed]


def due(scheduler: Any) -> dict[str, Any]:
    """Return what the bus hands over when the one schedule goes off."""
    [schedule] = schedules_in(scheduler)
    target = schedule["Target"]
    parameters = target["EventBridgeParameters"]
    scheduler.delete_schedule(GroupName=GROUP, Name=schedule["Name"])
    told: dict[str, Any] = EVENT | {
        "source": parameters["Source"],
        "detail-type": parameters["DetailType"],
        "detail": json.loads(target["Input"]),
    }
    return told


def rung(cloud: Cloud, event: object) -> Any:
    return cloud.process.submit(task_of("remind"), event, Context()).result()


def later(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, **time: float) -> None:
    now = cloud.assistant.clock.now() + timedelta(**time)
    monkeypatch.setattr(cloud.assistant.clock, "now", lambda: now)


def test_a_reminder_is_set_rung_once_and_told(cloud: Cloud, scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = asked(cloud, "POST", "/api/reminders", {"text": "call Ben", "when": "in 20 minutes"})
    event = due(scheduler)
    assert rung(cloud, event) == {"rung": False}
    later(cloud, monkeypatch, minutes=20)
    assert rung(cloud, event) == {"rung": True}
    assert rung(cloud, event) == {"rung": False}

    [told] = cloud.run(cloud.assistant.user_events.read(event["detail"]["user"], 0))
    assert (told.event.name, told.event.data["id"]) == ("reminder", made["id"])
    assert schedules_in(scheduler) == []
    [listed] = asked(cloud, "GET", "/api/reminders")["reminders"]
    assert listed["state"] == "ringing"


def test_a_reminder_that_repeats_sets_its_next_alarm(
    cloud: Cloud, scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = asked(
        cloud, "POST", "/api/reminders", {"text": "stretch", "when": "every day at 7:15", "timezone": "Asia/Tokyo"}
    )
    event = due(scheduler)
    later(cloud, monkeypatch, days=1)
    assert rung(cloud, event) == {"rung": True}
    [schedule] = schedules_in(scheduler)
    assert schedule["ScheduleExpression"] > f"at({made['due_at'][:10]}"
    assert schedule["ScheduleExpression"].endswith("T22:15:00)")


def test_a_canceled_reminder_leaves_no_alarm(cloud: Cloud, scheduler: Any) -> None:
    made = asked(cloud, "POST", "/api/reminders", {"text": "call Ben", "when": "in 20 minutes"})
    path = f"/api/reminders/{made['id']}"
    cloud.call("reminders", "rest_reminders", httpMethod="DELETE", path=path, resource="/api/reminders/{id}")
    assert schedules_in(scheduler) == []


def test_an_alarm_of_what_is_not_there_rings_nothing(cloud: Cloud, scheduler: Any) -> None:
    assert rung(cloud, EVENT) == {"rung": False}


@pytest.mark.parametrize("detail", [None, "{}", {}, {"user": "ana"}])
def test_an_alarm_that_cannot_be_read_is_refused_for_good(cloud: Cloud, scheduler: Any, detail: object) -> None:
    with pytest.raises(Refused):
        rung(cloud, EVENT | {"detail": detail})
