"""Step of the recording workflow: the summary takes in one part more, until it has them all."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def summarize_recording(assistant: Assistant, state: Event) -> Json:
    """Summarize the next part of a recording."""
    return {"is_done": await assistant.summarize_recording(state["user"], state["recording_id"])}


handler = task_handler(summarize_recording)
