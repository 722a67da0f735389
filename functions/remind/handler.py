"""Called when the time of a reminder has come: it is told to its user's stream, and rings again where it repeats."""

from tertulia.assistant import Assistant
from tertulia.domain.errors import InvalidRequest
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def remind(assistant: Assistant, event: Event) -> Json:
    """Ring a reminder, unless it was rung, moved or canceled meanwhile."""
    detail = event.get("detail")
    if not isinstance(detail, dict) or not {"user", "reminder_id"} <= detail.keys():
        raise InvalidRequest
    return {"rung": await assistant.ring(detail["user"], detail["reminder_id"])}


handler = task_handler(remind)
