"""Step of the workflow after a turn: the summary can be found by its meaning."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def index_summary(assistant: Assistant, state: Event) -> Json:
    """Index a conversation's summary."""
    await assistant.index_summary(state["user"], state["conversation_id"])
    return {}


handler = task_handler(index_summary)
