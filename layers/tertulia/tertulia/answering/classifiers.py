"""Two ways to tell the route of a text: asking a chat model, and comparing with examples."""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from heapq import nlargest
from importlib import resources
from math import sumprod
from statistics import fmean
from types import MappingProxyType

from tertulia.answering.prompting import prompt_file
from tertulia.domain.errors import ProviderTimeout
from tertulia.domain.markup import without_markup
from tertulia.domain.prompts import ChatMessage, Json, Prompt, TextDelta
from tertulia.domain.surfaces import Route
from tertulia.ports import ChatModel, Embedder

MOST_CHARACTERS = 1_000
"""What a person wants is clear from the beginning of a long text."""

_DRESSED_ROUTE = re.compile(
    r"[\W_]*(?:(?:the )?(?:route|category|answer|label|class)(?: is)?)?[\W_]*(" + "|".join(Route) + r")[\W_]*"
)


@dataclass(frozen=True, kw_only=True)
class ModelClassifier:
    """Asks a chat model for one word."""

    model: ChatModel
    seconds: float = 2.0
    most_tokens: int = 64
    """Eight would do for the word; reasoning models think first."""

    async def classify(self, text: str) -> Route | None:
        """Return the route the model names, or None when it says anything else."""
        prompt = Prompt(
            messages=(
                ChatMessage(role="system", parts=(_instructions(),)),
                ChatMessage(role="user", parts=(text[:MOST_CHARACTERS],)),
            ),
            temperature=0.0,
            max_tokens=self.most_tokens,
            seconds=self.seconds,
        )
        try:
            async with asyncio.timeout(self.seconds):
                return route_named(await self._answer(prompt))
        except TimeoutError as error:
            raise ProviderTimeout from error

    async def _answer(self, prompt: Prompt) -> str:
        async with aclosing(self.model.stream(prompt)) as events:
            return "".join([event.text async for event in events if isinstance(event, TextDelta)])


@cache
def _instructions() -> str:
    described = (f"{route}: {guide['when']}" for route, guide in _routes().items())
    return "\n".join([prompt_file("router"), "", *described])


def route_named(answer: str) -> Route | None:
    """Read a model's one-word answer, whatever it is dressed in; more than one word of substance is no answer."""
    found = _DRESSED_ROUTE.fullmatch(without_markup(answer).strip().lower())
    return Route(found[1]) if found else None


class ExampleClassifier:
    """Compares a text with examples of each route by meaning; in doubt it names none."""

    def __init__(
        self,
        embedder: Embedder,
        examples: Mapping[Route, Sequence[str]],
        *,
        least_likeness: float = 0.2,
        least_lead: float = 0.01,
    ) -> None:
        self._embedder = embedder
        self._examples = examples
        self._least_likeness = least_likeness
        self._least_lead = least_lead
        self._vectors: Mapping[Route, list[list[float]]] = {}
        self._preparing = asyncio.Lock()

    async def warm(self) -> None:
        """Embed the examples, once."""
        async with self._preparing:
            if not self._vectors:
                self._vectors = {route: await self._embedder.embed(texts) for route, texts in self._examples.items()}

    async def classify(self, text: str) -> Route | None:
        """Return the route whose examples are nearest, or None when none is near or two are about as near."""
        await self.warm()
        [vector] = await self._embedder.embed([text[:MOST_CHARACTERS]])
        ranked = sorted(((_likeness(vector, near), route) for route, near in self._vectors.items()), reverse=True)
        (best, route), (second, _) = ranked[:2]
        is_sure = best >= self._least_likeness and best - second >= self._least_lead
        return route if is_sure else None


def _likeness(vector: Sequence[float], examples: Iterable[Sequence[float]]) -> float:
    return fmean(nlargest(3, (sumprod(vector, example) for example in examples)))


def route_examples() -> dict[Route, tuple[str, ...]]:
    """Return the examples of each route that come with the product."""
    return {Route(route): tuple(guide["examples"]) for route, guide in _routes().items()}


@cache
def _routes() -> Mapping[str, Mapping[str, Json]]:
    text = resources.files(__package__).joinpath("routes.json").read_text("utf-8")
    return MappingProxyType(json.loads(text))
