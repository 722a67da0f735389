"""Several models as one: the next answers where the one before cannot, as long as no word is out."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta

from tertulia.domain.errors import ModelBusy, ProviderFailed, ProviderTimeout
from tertulia.domain.prompts import ModelEvent, Prompt, TokensUsed, ToolSpec
from tertulia.ports import ChatModel, Clock

logger = logging.getLogger(__name__)

LONGEST_WAIT = 2.0
"""How long a model may wait before it tries again while another stands by."""


class FallbackChat:
    """Asks models in their order, within the time of one call; one that asked to be left alone is, until then."""

    def __init__(self, models: Sequence[ChatModel], clock: Clock) -> None:
        self._models = tuple(models)
        self._clock = clock
        self._rests_until: dict[int, datetime] = {}

    @property
    def name(self) -> str:
        """The name of the first; what another has answered says so itself."""
        return self._models[0].name

    @property
    def runs_side_by_side(self) -> bool:
        """Whether the first does."""
        return self._models[0].runs_side_by_side

    async def prepare(self) -> None:
        """Make the first ready; the others are rarely asked."""
        if prepare := getattr(self._models[0], "prepare", None):
            await prepare()

    async def close(self) -> None:
        """Close them all."""
        for model in self._models:
            if close := getattr(model, "close", None):
                await close()

    async def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        """Answer by the first model that gives anything; what fails after that is told as it is."""
        first, events, model = await self._begun(prompt, tools)
        async with aclosing(events):
            if first is not None:
                yield self._named(first, model)
            async for event in events:
                yield self._named(event, model)

    async def _begun(
        self, prompt: Prompt, tools: Sequence[ToolSpec]
    ) -> tuple[ModelEvent | None, AsyncGenerator[ModelEvent], ChatModel]:
        started, failures, order = self._clock.now(), list[ProviderFailed](), self._order()
        for place, number in enumerate(order):
            left = prompt.seconds - (self._clock.now() - started).total_seconds()
            others = len(order) - place - 1
            if failures and left <= 0:
                break
            wait = min(LONGEST_WAIT, prompt.longest_wait) if others else prompt.longest_wait
            model = self._models[number]
            events = model.stream(replace(prompt, seconds=left, longest_wait=wait), tools)
            try:
                return await _first(events, left / (others + 1)), events, model
            except ProviderFailed as failure:
                await events.aclose()
                self._note(number, failure)
                failures.append(failure)
        raise failures[0]

    def _order(self) -> list[int]:
        """Put those that asked for a rest last: they are still asked when nobody else answers."""
        now = self._clock.now()
        return sorted(range(len(self._models)), key=lambda number: self._rests_until.get(number, now) > now)

    def _note(self, number: int, failure: ProviderFailed) -> None:
        logger.warning("the model %s failed before its first word: %s", self._models[number].name, failure.code)
        if isinstance(failure, ModelBusy) and failure.retry_after is not None:
            self._rests_until[number] = self._clock.now() + timedelta(seconds=failure.retry_after)

    def _named(self, event: ModelEvent, model: ChatModel) -> ModelEvent:
        return replace(event, model=event.model or model.name) if isinstance(event, TokensUsed) else event


async def _first(events: AsyncGenerator[ModelEvent], seconds: float) -> ModelEvent | None:
    try:
        async with asyncio.timeout(seconds):
            return await anext(events, None)
    except TimeoutError as error:
        raise ProviderTimeout from error
