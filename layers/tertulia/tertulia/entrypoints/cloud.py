"""An execution environment of Lambda: one assistant and one event loop, warm from call to call."""

import asyncio
import math
from collections.abc import Coroutine
from functools import cache
from typing import Any, Protocol

from aws_lambda_powertools.utilities import parameters

from tertulia.assistant import Assistant
from tertulia.entrypoints.telemetry import Telemetry, measure_cost, measure_turn
from tertulia.settings import Settings, SettingsError
from tertulia.variables import names_of

SECONDS_TO_ANSWER = 1.0
"""What is left of the deadline for the response itself when work that goes on has to be ended."""


class TimeLeft(Protocol):
    """What Lambda tells of the time a call has."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until Lambda ends the call."""
        ...


def seconds_left(context: TimeLeft) -> float:
    """Return the seconds that work may still take, which leaves time to answer."""
    return max(0.0, context.get_remaining_time_in_millis() / 1000 - SECONDS_TO_ANSWER)


class Environment:
    """What lives as long as the execution environment."""

    def __init__(self, assistant: Assistant) -> None:
        self.assistant = assistant
        self.loop = asyncio.new_event_loop()
        self.telemetry = Telemetry()

    def run[T](self, work: Coroutine[Any, Any, T], seconds: float = math.inf) -> T:
        """Run work on the one loop, and end what it leaves running: after the call that would be frozen in the middle."""
        # Libraries ask for the current loop; clients and turns are tied to the one they began in.
        asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(self._to_the_end(work, seconds))

    async def settle(self, until: float) -> None:
        """Let the other tasks of the loop end by a time of its clock, or cancel them."""
        running = asyncio.all_tasks() - {asyncio.current_task()}
        if not running:
            return
        left = until - self.loop.time()
        _, late = await asyncio.wait(running, timeout=max(0.0, left) if math.isfinite(left) else None)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def close(self) -> None:
        """End it, as only tests do: Lambda freezes an environment and throws it away."""
        self.loop.run_until_complete(self.assistant.close())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        self.loop.close()

    async def _to_the_end[T](self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        until = self.loop.time() + seconds
        try:
            return await work
        finally:
            await self.settle(until)


@cache
def environment() -> Environment:
    """Return the one of this process, made at its first event."""
    assistant = Assistant(cloud_settings())
    assistant.listeners.append(measure_turn)
    assistant.cost_listeners.append(measure_cost)
    return Environment(assistant)


def cloud_settings() -> Settings:
    """Read the environment, and the keys from the parameter store; the stores of a laptop are refused."""
    settings = Settings()
    if settings.profile != "aws":
        raise SettingsError("TERTULIA_PROFILE must be aws on Lambda: what is kept on its disk is lost.")
    if settings.secrets_path is None:
        return settings
    found = parameters.get_parameters(settings.secrets_path, decrypt=True)
    keys: dict[str, Any] = {
        setting: found[name]
        for setting in Settings.model_fields
        for name in reversed(names_of(setting))
        if name in found
    }
    return Settings(**keys)
