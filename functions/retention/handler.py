"""Called by a schedule once a day: what is older than its user wants it kept is deleted."""

from tertulia.assistant import Assistant
from tertulia.domain.errors import Unavailable
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler
from tertulia.entrypoints.telemetry import count


async def retention(assistant: Assistant, _: Event) -> Json:
    """Delete old things; where some could not be, the run is repeated, and whoever watches the alarms is told."""
    done = await assistant.forget_old()
    count("ForgottenConversations", done.conversations)
    if done.failed:
        raise Unavailable
    return {"users": done.users, "conversations": done.conversations, "files": done.files}


handler = task_handler(retention)
