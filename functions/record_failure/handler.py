"""Told by a rule that an execution of a workflow has failed: kept for whoever has it run again, and counted for the alarm."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.failures import failed_execution
from tertulia.entrypoints.tasks import Event, task_handler
from tertulia.entrypoints.telemetry import count


async def record_failure(assistant: Assistant, event: Event) -> Json:
    """Record a failed execution."""
    failure = failed_execution(event)
    await assistant.failed_executions.record(failure)
    count("FailedExecutions")
    return {"subject": failure.subject}


handler = task_handler(record_failure)
