"""Failed executions as EventBridge tells of them."""

import json
from typing import Any

from tertulia.domain import errors
from tertulia.domain.errors import InvalidRequest, TertuliaError
from tertulia.ports.workflows import FailedExecution
from tertulia.settings import Settings

NOT_OURS = "The event tells of no execution of ours."


def failed_execution(event: dict[str, Any], settings: Settings) -> FailedExecution:
    """Read an event of a failed, timed out or aborted execution."""
    workflows = {settings.after_turn_arn: "after_turn", settings.recording_arn: "recording"}
    try:
        detail = event["detail"]
        state = json.loads(detail["input"])
        return FailedExecution(
            workflow=workflows[str(detail["stateMachineArn"])],
            execution=detail["name"],
            subject=state.get("turn_id") or state["recording_id"],
            state=state,
            error=_code(detail),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidRequest(NOT_OURS) from error


def _code(detail: dict[str, Any]) -> str:
    """Return the code of the error a task named; an execution that ran out of time, or was ended by hand, names none."""
    try:
        named = json.loads(detail["cause"])["errorMessage"]
    except (KeyError, TypeError, ValueError):
        return str(detail["status"]).lower()
    kind = getattr(errors, str(named), None)
    return kind.code if isinstance(kind, type) and issubclass(kind, TertuliaError) else TertuliaError.code
