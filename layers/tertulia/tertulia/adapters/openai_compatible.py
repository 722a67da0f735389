"""OpenAI, Google, DeepSeek and every server that speaks the OpenAI chat protocol, as ChatModels.

Over httpx, which all functions load anyway: OpenAI's own client takes almost six times as long to import.
"""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from tertulia.adapters.chat_protocol import Patience, ToolCallPieces, function_of, messages_of
from tertulia.adapters.model_failures import ModelChoice
from tertulia.adapters.model_server import ModelServer
from tertulia.domain.prompts import Json, ModelEvent, Prompt, TextDelta, TokensUsed, ToolSpec

_REASONS_ALWAYS = re.compile(r"o\d|gpt-5")


@dataclass(frozen=True, kw_only=True)
class Manners:
    """How a server wants to be asked, where servers differ; a plain one takes the oldest words."""

    most_tokens: str = "max_tokens"
    in_parts: bool = False
    runs_side_by_side: bool = True


class OpenAiCompatibleChat:
    """A model behind an address such as `https://api.openai.com/v1`."""

    def __init__(self, server: ModelServer, choice: ModelChoice, manners: Manners | None = None) -> None:
        self._server = server
        self._choice = choice
        self._manners = manners or Manners()

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        return self._choice.name

    @property
    def runs_side_by_side(self) -> bool:
        """Whether the server answers several calls at once."""
        return self._manners.runs_side_by_side

    async def prepare(self) -> None:
        """Pay for the import before the first turn does; nothing is opened."""
        await self._server.prepare()

    async def close(self) -> None:
        """Close the connection."""
        await self._server.close()

    def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        """Answer with text as it is written, or with tool calls; once something is out, nothing is tried again."""
        return self._server.retries.stream(partial(self._attempt, tools=tools), prompt)

    async def _attempt(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> AsyncGenerator[ModelEvent]:
        calls, used, is_answer = ToolCallPieces(), None, False
        with self._server.guard(self._choice):
            chunks = self._server.events("chat/completions", self._asked(prompt, tools), Patience(prompt.seconds))
            async with aclosing(chunks):
                async for chunk in chunks:
                    used = _usage(chunk) or used
                    for choice in chunk.get("choices") or ():
                        is_answer = True
                        delta = choice.get("delta") or {}
                        _gather(delta, calls)
                        if text := delta.get("content"):
                            yield TextDelta(text)
            if not is_answer:
                raise ValueError("the answer is no stream of choices")
        for call in calls.joined():
            yield call
        if used:
            yield used

    def _asked(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> dict[str, Json]:
        return {
            "model": self.name,
            "messages": messages_of(prompt, in_parts=self._manners.in_parts),
            "stream": True,
            "stream_options": {"include_usage": True},
            self._manners.most_tokens: prompt.max_tokens,
            **_writing(self.name, prompt),
            **({"tools": [function_of(tool) for tool in tools]} if tools else {}),
        }


def _writing(model: str, prompt: Prompt) -> dict[str, Json]:
    """Ask for the temperature; models that always reason refuse one, and others are asked not to."""
    if _REASONS_ALWAYS.match(model):
        return {"reasoning_effort": "low"}
    asked: dict[str, Json] = {"temperature": prompt.temperature, "top_p": prompt.top_p}
    return asked | ({"reasoning_effort": "none"} if model.startswith("gemini-2.5-flash") else {})


def _usage(chunk: Mapping[str, Json]) -> TokensUsed | None:
    usage = chunk.get("usage")
    if not usage:
        return None
    return TokensUsed(tokens_in=usage.get("prompt_tokens") or 0, tokens_out=usage.get("completion_tokens") or 0)


def _gather(delta: Mapping[str, Json], calls: ToolCallPieces) -> None:
    for piece in delta.get("tool_calls") or ():
        function = piece.get("function") or {}
        calls.add(piece.get("index"), piece.get("id"), function.get("name"), function.get("arguments"))
