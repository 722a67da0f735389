"""Step of the workflow after a turn: the conversation's title, overview and action items."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def summarize(assistant: Assistant, state: Event) -> Json:
    """Summarize a conversation up to its newest turn."""
    summary = await assistant.summarize(state["user"], state["conversation_id"], state["turn_id"])
    return {"last_number": summary.last_number if summary else None}


handler = task_handler(summarize)
