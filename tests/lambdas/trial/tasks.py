"""Tasks of the tests' own, through the product's own way in."""

import asyncio
from typing import Any

from tertulia.assistant import Assistant
from tertulia.domain.errors import InvalidValue, Unauthorized, Unavailable
from tertulia.entrypoints.tasks import queue_handler, task_handler

FAILURES = {"again": Unavailable, "never": InvalidValue, "unknown": Unauthorized}


async def work(assistant: Assistant, event: dict[str, Any]) -> Any:
    """Answer, wait or fail as told."""
    await asyncio.sleep(event.get("sleep", 0))
    if (failure := event.get("fail")) in FAILURES:
        raise FAILURES[failure](event["words"])
    return {"doubled": event["number"] * 2, "profile": assistant.settings.profile}


handler = task_handler(work)
queue = queue_handler(work)
