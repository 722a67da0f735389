"""Workflows: executions that failed, for the person who has them run again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tertulia.domain.prompts import Json
from tertulia.ports.follow_up import FailedFollowUps


@dataclass(frozen=True, kw_only=True)
class FailedExecution:
    """An execution of a workflow that failed, or that could not be started."""

    workflow: str
    """`after_turn` or `recording`."""
    execution: str
    """Its name."""
    subject: str
    """The turn or the recording it was about."""
    state: Mapping[str, Json]
    """What it was started with: ids, never words."""
    error: str
    """A code, never a text from a vendor."""


class FailedExecutions(FailedFollowUps, Protocol):
    """Where failed executions are noted; a retry is a new execution from the same state."""

    async def record(self, failure: FailedExecution) -> None:
        """Note a failure; the same execution told twice is one failure."""
        ...
