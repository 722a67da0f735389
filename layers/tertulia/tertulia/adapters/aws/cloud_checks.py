"""Checks of a deployment: what it consists of is there, and has the room it needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from tertulia.adapters.aws.calls import call
from tertulia.domain.checkups import Finding, fine, problem
from tertulia.domain.errors import NotConfigured, NotFound, TertuliaError

LEAST_CONCURRENCY = 50
"""New accounts may run 10 functions at once; one user with a device needs a handful."""
MOST_SKEW_SECONDS = 60.0


@dataclass(frozen=True)
class DeployedTable:
    """Whether the table is there and can be restored."""

    name: str
    matter = "table"

    async def __call__(self) -> Sequence[Finding]:
        """Ask for it."""
        client = _client("dynamodb")
        try:
            found = (await call(client.describe_table, TableName=self.name))["Table"]
            backups = await call(client.describe_continuous_backups, TableName=self.name)
        except NotConfigured:
            return [problem(self.matter, f"{self.name} is not there, or not for you to see.", "Run `tertulia deploy`.")]
        recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
            return [problem(self.matter, "It cannot be restored to an earlier time.", "Run `tertulia deploy`.")]
        return [fine(self.matter, f"{self.name}: {found['TableStatus']}, {found.get('ItemCount', 0)} items.")]


@dataclass(frozen=True)
class DeployedBucket:
    """Whether the bucket is there."""

    name: str
    matter = "bucket"

    async def __call__(self) -> Sequence[Finding]:
        """Ask for it."""
        try:
            await call(_client("s3").get_bucket_location, Bucket=self.name)
        except (NotConfigured, NotFound):
            return [problem(self.matter, f"{self.name} is not there, or not for you to see.", "Run `tertulia deploy`.")]
        return [fine(self.matter, self.name)]


@dataclass(frozen=True)
class DeployedStateMachine:
    """Whether a state machine can be started."""

    matter: str
    arn: str

    async def __call__(self) -> Sequence[Finding]:
        """Ask for it."""
        try:
            found = await call(_client("stepfunctions").describe_state_machine, stateMachineArn=self.arn)
        except TertuliaError:
            return [problem(self.matter, f"{self.arn} cannot be reached.", "Run `tertulia deploy`.")]
        return [fine(self.matter, str(found["status"]).lower())]


@dataclass(frozen=True)
class Concurrency:
    """Whether the account may run enough functions at once."""

    matter = "concurrency"

    async def __call__(self) -> Sequence[Finding]:
        """Ask for the account's limits."""
        limits = (await call(_client("lambda").get_account_settings))["AccountLimit"]
        most = limits["ConcurrentExecutions"]
        if most < LEAST_CONCURRENCY:
            what = f"This account may run {most} functions at once."
            return [problem(self.matter, what, "Ask AWS for more: Service Quotas, Lambda, concurrent executions.")]
        return [fine(self.matter, f"{most} functions at once.")]


@dataclass(frozen=True)
class CloudClock:
    """Whether the clock here agrees with AWS's, which refuses what is signed five minutes off."""

    matter = "clock"

    async def __call__(self) -> Sequence[Finding]:
        """Compare them."""
        answer = await call(_client("sts").get_caller_identity)
        told = answer["ResponseMetadata"]["HTTPHeaders"].get("date", "")
        there = parsedate_to_datetime(told)
        seconds = abs((datetime.now(UTC) - there).total_seconds())
        if seconds > MOST_SKEW_SECONDS:
            return [problem(self.matter, f"It is {seconds:.0f} s off.", "Turn on time synchronization.")]
        return [fine(self.matter, "It agrees with AWS's.")]


def _client(service: Any) -> Any:
    import boto3

    return boto3.client(service)
