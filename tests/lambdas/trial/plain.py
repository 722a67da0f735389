"""A handler without the product: what it is told to do, it does."""

import os
import threading
import time
from typing import Any

calls = 0
ticks = 0


def _tick() -> None:
    global ticks  # noqa: PLW0603
    while True:
        time.sleep(0.01)
        ticks += 1


threading.Thread(target=_tick, daemon=True).start()


def handler(event: dict[str, Any], context: Any) -> Any:
    """Do it."""
    global calls  # noqa: PLW0603
    calls += 1
    time.sleep(event.get("sleep", 0))
    if "exit" in event:
        os._exit(event["exit"])
    if "fail" in event:
        raise ValueError(event["fail"])
    if "answer" in event:
        return "x" * event["answer"]
    left = context.get_remaining_time_in_millis()
    return {"calls": calls, "ticks": ticks, "pid": os.getpid(), "left": left, "id": context.aws_request_id}
