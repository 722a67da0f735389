"""Step of the recording workflow: what is said in one part."""

from tertulia.assistant import Assistant
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event, task_handler


async def transcribe_recording(assistant: Assistant, state: Event) -> Json:
    """Transcribe a part of a recording."""
    await assistant.transcribe_part(state["user"], state["recording_id"], state["place"])
    return {}


handler = task_handler(transcribe_recording)
