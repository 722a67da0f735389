"""Asks a chat model for a JSON object, and reads it however it is dressed."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass
from json import JSONDecoder

from tertulia.domain.errors import ProviderFailed, ProviderTimeout
from tertulia.domain.markup import without_markup
from tertulia.domain.prompts import Json, Prompt, TextDelta
from tertulia.ports import ChatModel


class UnreadableAnswer(ProviderFailed):
    """The model wrote something else than it was asked for; another attempt may help."""

    retryable = True


@dataclass(frozen=True)
class JsonAsker:
    """A chat model that is asked for objects."""

    model: ChatModel

    async def __call__(self, prompt: Prompt) -> dict[str, Json]:
        """Return the object that the model writes; raises ProviderFailed."""
        try:
            async with asyncio.timeout(prompt.seconds), aclosing(self.model.stream(prompt)) as events:
                answer = "".join([event.text async for event in events if isinstance(event, TextDelta)])
        except TimeoutError as error:
            raise ProviderTimeout from error
        return object_in(without_markup(answer))


def object_in(answer: str) -> dict[str, Json]:
    """Return the first JSON object of a text, which may stand in a code block or between words."""
    start = answer.find("{")
    try:
        found, _ = JSONDecoder(strict=False).raw_decode(answer, start) if start >= 0 else (None, 0)
    except json.JSONDecodeError as error:
        raise UnreadableAnswer from error
    if not isinstance(found, dict):
        raise UnreadableAnswer
    return found
