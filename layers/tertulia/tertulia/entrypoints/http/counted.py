"""Requests that ask a vendor without taking a turn: let in and counted as turns are, at a rate of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace

from tertulia.assistant import Assistant
from tertulia.domain.prices import Usage
from tertulia.domain.surfaces import SPOKEN
from tertulia.domain.turns import TurnRequest
from tertulia.domain.usage import ModelUsage, UsageRecord
from tertulia.entrypoints.http.turn_taking import new_turn_id
from tertulia.usecases.limits import APART

_SURFACE = replace(SPOKEN, name=APART, counted_as=APART)


class Used:
    """What a request has used so far."""

    def __init__(self, assistant: Assistant) -> None:
        self._prices = assistant.settings.prices
        self.record = UsageRecord()

    def add(self, model: str, usage: Usage) -> None:
        """Note a use of a model."""
        before = self.record.models.get(model, ModelUsage())
        use = before + ModelUsage(**asdict(usage), cost_microdollars=self._prices.cost(model, usage))
        self.record = UsageRecord(models={**self.record.models, model: use})


@asynccontextmanager
async def counted(assistant: Assistant, user: str) -> AsyncIterator[Used]:
    """Let a request in, or raise RateLimited before a vendor is asked; what it used is counted at its end."""
    request = TurnRequest(user=user, turn_id=new_turn_id(), surface=_SURFACE)
    await assistant.limits.admit(request)
    used = Used(assistant)
    try:
        yield used
    finally:
        await assistant.limits.record(request, used.record)
