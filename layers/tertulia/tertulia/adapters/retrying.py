"""When a call to a model is tried again: at most three times, and never beyond the time its caller has."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_exponential, wait_fixed, wait_random

from tertulia.domain.errors import ModelBusy, ModelDown, ModelUnreachable, ToolCallFailed
from tertulia.domain.prompts import Prompt
from tertulia.ports import Clock

ATTEMPTS = 3

_backing_off = wait_exponential(multiplier=0.5, max=8) + wait_random(0, 0.5)
_one_second = wait_fixed(1)
_a_little_more = wait_random(0, 0.25)


@dataclass(frozen=True)
class Retries:
    """Tries a call again where that helps."""

    clock: Clock

    async def run[T](self, call: Callable[[float], Awaitable[T]], seconds: float, longest_wait: float = math.inf) -> T:
        """Call with the seconds that are left; a wait that is longer, or does not fit into them, is not begun."""
        begun = self.clock.now()

        def left() -> float:
            return seconds - (self.clock.now() - begun).total_seconds()

        def is_enough(state: RetryCallState) -> bool:
            return state.attempt_number >= ATTEMPTS or state.upcoming_sleep >= min(left(), longest_wait)

        async def attempt() -> T:
            return await call(left())

        retrying = AsyncRetrying(
            retry=retry_if_exception_type((ModelBusy, ModelDown, ModelUnreachable, ToolCallFailed)),
            stop=is_enough,
            wait=_wait,
            sleep=self.clock.sleep,
            reraise=True,
        )
        return await retrying(attempt)

    async def stream[E](self, attempt: Callable[[Prompt], AsyncGenerator[E]], asked: Prompt) -> AsyncGenerator[E]:
        """Stream what an attempt gives in the time that is left; once something is out, nothing is tried again."""

        async def begin(left: float) -> tuple[E | None, AsyncGenerator[E]]:
            events = attempt(replace(asked, seconds=left))
            return await anext(events, None), events

        first, rest = await self.run(begin, asked.seconds, asked.longest_wait)
        async with aclosing(rest):
            if first is not None:
                yield first
            async for event in rest:
                yield event


def _wait(state: RetryCallState) -> float:
    failure = state.outcome.exception() if state.outcome else None
    if isinstance(failure, ToolCallFailed):
        return _one_second(state)
    if isinstance(failure, ModelBusy) and failure.retry_after is not None:
        return failure.retry_after + _a_little_more(state)
    return _backing_off(state)
