"""Step of the workflow after a turn: whether the conversation is to be summarized now."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def load_turns(assistant: Assistant, state: Event) -> Json:
    """Look at the conversation's last turns."""
    return {"is_due": await assistant.summary_is_due(state["user"], state["conversation_id"], state["turn_id"])}


handler = task_handler(load_turns)
