"""How much a user may ask for: turns a minute, turns at once, money a day."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tertulia.domain.errors import RateLimited, TertuliaError
from tertulia.domain.surfaces import SCREEN, SPOKEN
from tertulia.domain.turns import TurnRequest
from tertulia.domain.usage import UsageRecord
from tertulia.ports import Clock
from tertulia.ports.limits import RateCounter
from tertulia.usecases.spending import Spending

APART = "apart"
"""What is counted that takes no turn: speech, hearing and routing on their own."""
DEVICE_TURNS_AT_ONCE = 2
SECONDS_FOR_A_PLACE = 10.0
"""How long a turn waits for others of its user to end, in other processes."""

_A_MINUTE = 60.0
_LOOK_SECONDS = 0.25
_LEASED_BEYOND = 30.0
"""A place is free again this long after the deadline of a turn whose process has died."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What is allowed; `docs/constants.md` explains the numbers."""

    turns_a_minute: Mapping[str, int] = field(
        default_factory=lambda: {SPOKEN.counted_as: 60, APART: 60, SCREEN.counted_as: 10},
    )
    """By what a surface's turns are counted as."""
    device_turns_a_minute: int = 30
    running_turns: int = 4
    turn_seconds: float = 120.0
    uncounted: frozenset[str] = frozenset()
    """Users who are alone on their machine and may ask as fast as it answers."""


class Limits:
    """Lets a turn in or says how long to wait, and counts what it used."""

    def __init__(self, rates: RateCounter, spending: Spending, clock: Clock, allowance: Allowance) -> None:
        self._rates = rates
        self._spending = spending
        self._clock = clock
        self.allowance = allowance

    async def admit(self, request: TurnRequest, mark: str = "") -> None:
        """Let a turn in, or raise RateLimited before anything is begun; the same mark is counted once a minute."""
        _, caps = await asyncio.gather(
            self._count(request, mark or request.turn_id), self._spending.caps_of(request.user)
        )
        await self._spending.reserve(request, caps)

    @asynccontextmanager
    async def place(self, request: TurnRequest) -> AsyncIterator[None]:
        """Hold one of the user's places for running turns, waiting for it; RateLimited when none becomes free."""
        held: list[str] = []
        try:
            for kind, limit in self._places(request):
                await self._wait_for(request, kind, limit)
                held.append(kind)
            yield
        finally:
            for kind in held:
                await self._leave(request, kind)

    async def record(self, request: TurnRequest, used: UsageRecord) -> None:
        """Count what a turn used, in place of what was reserved for it; again with nothing is fine."""
        try:
            await self._spending.record(request, used)
        except TertuliaError as error:
            # The turn is stored and told. What stays reserved for it today errs on the side of the cap.
            logger.error("what a turn used could not be counted: %s", error.code)

    async def _count(self, request: TurnRequest, mark: str) -> None:
        for kind, limit in self._rates_of(request):
            wait = await self._rates.hit(request.user, kind, limit, _A_MINUTE, mark)
            if wait is not None:
                seconds = max(1, math.ceil(wait))
                raise RateLimited(
                    f"At most {limit} questions a minute are answered. Try again in {seconds} seconds.",
                    retry_after=wait,
                )

    def _rates_of(self, request: TurnRequest) -> Iterator[tuple[str, int]]:
        if request.user in self.allowance.uncounted:
            return
        if request.device_id:
            yield f"device#{request.device_id}", self.allowance.device_turns_a_minute
        kind = request.surface.counted_as
        yield kind, self.allowance.turns_a_minute[kind]

    def _places(self, request: TurnRequest) -> Iterator[tuple[str, int]]:
        if request.user in self.allowance.uncounted:
            return
        if request.device_id:
            yield f"running#{request.device_id}", DEVICE_TURNS_AT_ONCE
        yield "running", self.allowance.running_turns

    async def _wait_for(self, request: TurnRequest, kind: str, limit: int) -> None:
        lease, waited = self.allowance.turn_seconds + _LEASED_BEYOND, 0.0
        while await self._rates.hit(request.user, kind, limit, lease, request.turn_id) is not None:
            if waited >= SECONDS_FOR_A_PLACE:
                raise RateLimited(f"{limit} questions are being answered already. Wait for one of them.", retry_after=5)
            await self._clock.sleep(_LOOK_SECONDS)
            waited += _LOOK_SECONDS

    async def _leave(self, request: TurnRequest, kind: str) -> None:
        try:
            await self._rates.forget(request.user, kind, request.turn_id)
        except TertuliaError as error:
            logger.warning("a turn's place is held until its lease ends: %s", error.code)
