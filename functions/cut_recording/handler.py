"""Step of the recording workflow: where the recording can be cut into parts."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def cut_recording(assistant: Assistant, state: Event) -> Json:
    """Cut a recording."""
    return {"places": list(range(await assistant.cut_recording(state["user"], state["recording_id"])))}


handler = task_handler(cut_recording)
