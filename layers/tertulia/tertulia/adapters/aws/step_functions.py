"""Workflows by Step Functions: an execution for each turn, and one for each recording."""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tertulia.adapters.aws.calls import AlreadyExists, call
from tertulia.domain.errors import NotConfigured
from tertulia.domain.prompts import Json

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

MOST_NAME_CHARACTERS = 80
_IN_NAMES = re.compile(r"[A-Za-z0-9_-]+")
_ATTEMPTS = 5


class StateMachine:
    """Starts executions of one state machine."""

    def __init__(self, arn: str | None, client: "SFNClient | None" = None) -> None:
        self._arn = arn
        self._given = client

    async def start(self, name: str, state: Mapping[str, Json]) -> None:
        """Start an execution; one of the same name, running or ended, is the same execution."""
        if self._arn is None:
            raise NotConfigured("No state machine is set for this.")
        try:
            await call(self._client.start_execution, stateMachineArn=self._arn, name=name, input=json.dumps(state))
        except AlreadyExists:
            return

    @cached_property
    def _client(self) -> "SFNClient":
        return self._given or client()


def client() -> "SFNClient":
    """Return a client that is patient with AWS, but not with the network: a user waits for the start."""
    import boto3
    from botocore.config import Config

    retries: Any = {"mode": "standard", "total_max_attempts": _ATTEMPTS}
    return boto3.client("stepfunctions", config=Config(connect_timeout=2, read_timeout=5, retries=retries))


def execution_name(*ids: str) -> str:
    """Name an execution after ids, or after their digest where they are too long or hold what a name may not."""
    name = "-".join(ids)
    if len(name) <= MOST_NAME_CHARACTERS and _IN_NAMES.fullmatch(name):
        return name
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()
