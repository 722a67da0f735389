"""Runs in the chat function's own process: what a warm buffered request takes, and what the use case in it does."""

import copy
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from handler import handler  # type: ignore[import-not-found]  # the function's own folder
from ulid import ULID

from tertulia.domain.turns import TurnRequest
from tertulia.entrypoints.cloud import environment

RUNS = 30


def main(event: dict[str, Any]) -> None:
    """Write the medians of what a request adds and of the use case, in milliseconds, as JSON."""
    pairs = [
        (_timed(partial(_request, event, user)), _timed(partial(_use_case, user))) for user in map(str, range(RUNS))
    ]
    warm = pairs[3:]
    added = statistics.median(whole - bare for whole, bare in warm)
    sys.stdout.write(f"\n{json.dumps([added, statistics.median(bare for _, bare in warm)])}\n")


def _request(event: dict[str, Any], user: str) -> None:
    asked = copy.deepcopy(event)
    asked["requestContext"]["authorizer"] |= {"principalId": f"asking-{user}", "user": f"asking-{user}"}
    context = SimpleNamespace(
        function_name="chat",
        function_version="1",
        memory_limit_in_mb=1024,
        invoked_function_arn="arn:aws:lambda:eu-central-1:123456789012:function:chat",
        aws_request_id=str(ULID()),
        get_remaining_time_in_millis=lambda: 100_000,
    )
    answer = handler(asked, context)
    assert answer["statusCode"] == 200, answer


def _use_case(user: str) -> None:
    async def take() -> None:
        turn = await environment().assistant.turns.take(
            TurnRequest(user=f"taking-{user}", turn_id=str(ULID()).lower(), text="Hello")
        )
        async for _ in turn.events():
            pass

    environment().run(take())


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
