"""Alarms by EventBridge Scheduler: one schedule for the next time of each reminder, deleted once it went off."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tertulia.adapters.aws.calls import AlreadyExists, call
from tertulia.domain.errors import NotConfigured, NotFound
from tertulia.domain.reminders import Reminder

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

SOURCE = "tertulia.reminders"
_ATTEMPTS = 4
_RETRIES = 30
_HOURS_TO_RETRY = 24


@dataclass(frozen=True, kw_only=True)
class ScheduleTarget:
    """Where alarms go: to a bus, so that the function that rings can set alarms of its own."""

    group: str | None
    bus: str | None
    role: str | None


class Schedules:
    """The alarms of reminders in the cloud, each within the minute of its time."""

    def __init__(self, target: ScheduleTarget, client: "EventBridgeSchedulerClient | None" = None) -> None:
        self._target = target
        self._given = client

    async def set(self, reminder: Reminder) -> None:
        """Have the reminder rung when it is due, in place of any time before."""
        schedule = self._schedule(reminder)
        try:
            await call(self._client.create_schedule, **schedule)
        except AlreadyExists:
            await call(self._client.update_schedule, **schedule)

    async def drop(self, reminder: Reminder) -> None:
        """Ring it no more."""
        try:
            await call(self._client.delete_schedule, GroupName=self._target.group, Name=name_of(reminder))
        except (NotConfigured, NotFound):
            # The SDK's word for what is not there: it went off, and was deleted by itself.
            return

    def _schedule(self, reminder: Reminder) -> dict[str, Any]:
        target, due = self._target, reminder.due_at
        if target.group is None or target.bus is None or target.role is None or due is None:
            raise NotConfigured("No schedules are set up for reminders.")
        return {
            "Name": name_of(reminder),
            "GroupName": target.group,
            "ScheduleExpression": f"at({due:%Y-%m-%dT%H:%M:%S})",
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Target": {
                "Arn": target.bus,
                "RoleArn": target.role,
                "EventBridgeParameters": {"DetailType": target.group, "Source": SOURCE},
                "Input": json.dumps({"user": reminder.user, "reminder_id": reminder.id}),
                "RetryPolicy": {
                    "MaximumRetryAttempts": _RETRIES,
                    "MaximumEventAgeInSeconds": _HOURS_TO_RETRY * 3600,
                },
            },
        }

    @cached_property
    def _client(self) -> "EventBridgeSchedulerClient":
        import boto3
        from botocore.config import Config

        retries: Any = {"mode": "standard", "total_max_attempts": _ATTEMPTS}
        return self._given or boto3.client(
            "scheduler", config=Config(connect_timeout=2, read_timeout=5, retries=retries)
        )


def name_of(reminder: Reminder) -> str:
    """Name the schedule of a reminder; ids are unique for a user only, and names of users hold what names may not."""
    return f"{hashlib.sha256(reminder.user.encode()).hexdigest()[:24]}-{reminder.id}"
