"""Failed executions as EventBridge tells of them."""

import json
from typing import Any

from tertulia.domain import errors
from tertulia.domain.errors import InvalidRequest, TertuliaError
from tertulia.ports.workflows import FailedExecution

NOT_OURS = "The event tells of no execution of ours."


def failed_execution(event: dict[str, Any]) -> FailedExecution:
    """Read an event of a failed, timed out or aborted execution; the rule passes on those of our workflows alone."""
    try:
        detail = event["detail"]
        state = json.loads(detail["input"])
        is_turn = "turn_id" in state
        return FailedExecution(
            workflow="after_turn" if is_turn else "recording",
            execution=detail["name"],
            subject=state["turn_id" if is_turn else "recording_id"],
            state=state,
            error=_code(detail),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRequest(NOT_OURS) from error


def _code(detail: dict[str, Any]) -> str:
    """Return the code of the error a task named; an execution that ran out of time, or was ended by hand, names none."""
    try:
        named = json.loads(detail["cause"])["errorMessage"]
    except (KeyError, TypeError, ValueError):
        return str(detail["status"]).lower()
    kind = getattr(errors, str(named), None)
    return kind.code if isinstance(kind, type) and issubclass(kind, TertuliaError) else TertuliaError.code
