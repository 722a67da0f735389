"""Alarms by EventBridge Scheduler."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from tertulia.adapters.aws.schedules import SOURCE, Schedules, ScheduleTarget, name_of
from tertulia.domain.errors import NotConfigured
from tertulia.domain.reminders import Reminder

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

GROUP, BUS = "tertulia-reminders", "arn:aws:events:eu-central-1:123456789012:event-bus/default"
TARGET = ScheduleTarget(group=GROUP, bus=BUS, role="arn:aws:iam::123456789012:role/ring")
NOBODY: Any = {"region_name": "eu-central-1", "aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
REMINDER = Reminder(
    id="0123456789abcdef",
    user="ana@büro ☂",
    text="call Ben",
    timezone="Asia/Shanghai",
    wall=datetime(2030, 6, 2, 9),
    created_at=datetime(2030, 6, 1, tzinfo=UTC),
    next_at=datetime(2030, 6, 2, 1, tzinfo=UTC),
)


@pytest.fixture
def scheduler() -> Iterator["EventBridgeSchedulerClient"]:
    with mock_aws():
        client = boto3.client("scheduler", **NOBODY)
        client.create_schedule_group(Name=GROUP)
        yield client


def schedules_in(scheduler: "EventBridgeSchedulerClient") -> list[Any]:
    return [
        scheduler.get_schedule(GroupName=GROUP, Name=each["Name"])
        for each in scheduler.list_schedules(GroupName=GROUP)["Schedules"]
    ]


async def test_an_alarm_puts_the_reminders_ids_on_the_bus_at_its_time(scheduler: "EventBridgeSchedulerClient") -> None:
    await Schedules(TARGET, scheduler).set(REMINDER)

    [schedule] = schedules_in(scheduler)
    assert schedule["ScheduleExpression"] == "at(2030-06-02T01:00:00)"
    assert schedule["ScheduleExpressionTimezone"] == "UTC"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["ActionAfterCompletion"] == "DELETE"
    target = schedule["Target"]
    assert (target["Arn"], target["RoleArn"]) == (TARGET.bus, TARGET.role)
    assert target["EventBridgeParameters"] == {"DetailType": GROUP, "Source": SOURCE}
    assert json.loads(target["Input"]) == {"user": REMINDER.user, "reminder_id": REMINDER.id}
    assert REMINDER.text not in json.dumps(schedule, default=str)


async def test_a_later_time_replaces_the_one_before(scheduler: "EventBridgeSchedulerClient") -> None:
    schedules = Schedules(TARGET, scheduler)
    await schedules.set(REMINDER)
    await schedules.set(replace(REMINDER, snoozed_until=datetime(2030, 6, 1, 23, 50, tzinfo=UTC)))

    [schedule] = schedules_in(scheduler)
    assert schedule["ScheduleExpression"] == "at(2030-06-01T23:50:00)"


async def test_a_dropped_alarm_is_gone_and_dropping_what_is_gone_is_fine(
    scheduler: "EventBridgeSchedulerClient",
) -> None:
    schedules = Schedules(TARGET, scheduler)
    await schedules.set(REMINDER)
    for _ in range(2):
        await schedules.drop(REMINDER)
    assert schedules_in(scheduler) == []


def test_reminders_of_two_users_with_one_id_have_two_names_that_aws_takes() -> None:
    names = {name_of(replace(REMINDER, user=user)) for user in ("ana", "ben", "ana@büro ☂", "x" * 64)}
    assert len(names) == 4
    assert all(len(name) <= 64 and name.replace("-", "").isalnum() and name.isascii() for name in names)


async def test_without_schedules_no_alarm_is_set_silently(scheduler: "EventBridgeSchedulerClient") -> None:
    with pytest.raises(NotConfigured):
        await Schedules(ScheduleTarget(group=None, bus=None, role=None), scheduler).set(REMINDER)
