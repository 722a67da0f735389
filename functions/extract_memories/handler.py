"""Step of the workflow after a turn: what it tells about its user is remembered."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def extract_memories(assistant: Assistant, state: Event) -> Json:
    """Remember a turn."""
    return {"memories": await assistant.remember(state["user"], state["turn_id"])}


handler = task_handler(extract_memories)
