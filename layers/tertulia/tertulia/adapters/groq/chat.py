"""Groq's language models, through LangChain."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.errors import ModelChoice
from tertulia.adapters.langchain import LangChainChat
from tertulia.domain.prompts import ModelEvent, Prompt, ToolSpec

if TYPE_CHECKING:
    from groq import AsyncStream
    from groq.resources.chat import AsyncCompletions
    from groq.types.chat import ChatCompletionChunk
    from langchain_groq import ChatGroq


class GroqChat:
    """A model at Groq as a ChatModel, with its failures retried until the first word."""

    def __init__(self, connection: GroqConnection, model: str, setting: str = "GROQ_LLM_MODEL") -> None:
        self._connection = connection
        self._choice = ModelChoice(model, setting)
        self._chat = LangChainChat(self._opened, self._options, self._guard)

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        return self._choice.name

    @property
    def runs_side_by_side(self) -> bool:
        """Groq answers several calls at once."""
        return True

    async def prepare(self) -> None:
        """Import and build what the first turn needs; nothing is opened."""
        await asyncio.to_thread(lambda: self._model)

    async def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        """Answer with text as it is written, or with tool calls; once something is out, nothing is tried again."""

        async def begin(left: float) -> tuple[ModelEvent | None, AsyncGenerator[ModelEvent]]:
            events = self._chat.stream(replace(prompt, seconds=left), tools)
            return await anext(events, None), events

        first, rest = await self._connection.retries.run(begin, prompt.seconds)
        async with aclosing(rest):
            if first is not None:
                yield first
            async for event in rest:
                yield event

    @cached_property
    def _model(self) -> "ChatGroq":
        from langchain_groq import ChatGroq

        completions = self._connection.sdk.chat.completions
        # Given both clients, it builds none of its own, each of which would cost a pool and a set of certificates.
        return ChatGroq(model_name=self.name, client=completions, async_client=completions, max_retries=0)

    @asynccontextmanager
    async def _opened(self) -> "AsyncIterator[ChatGroq]":
        model = self._model
        completions = _Completions(model.async_client)
        try:
            yield model.model_copy(update={"async_client": completions})
        finally:
            await completions.close()

    def _options(self, prompt: Prompt) -> dict[str, Any]:
        return {
            "temperature": prompt.temperature,
            "top_p": prompt.top_p,
            "max_completion_tokens": prompt.max_tokens,
            **_thinking(self.name),
        }

    def _guard(self) -> AbstractContextManager[None]:
        return self._connection.guard(self._choice)


class _Completions:
    """Keeps hold of the streams of one call: LangChain leaves closing them to the garbage collector."""

    def __init__(self, completions: "AsyncCompletions") -> None:
        self._completions = completions
        self._streams: list[AsyncStream[ChatCompletionChunk]] = []

    async def create(self, **params: Any) -> "AsyncStream[ChatCompletionChunk]":
        stream: AsyncStream[ChatCompletionChunk] = await self._completions.create(**params)
        self._streams.append(stream)
        return stream

    async def close(self) -> None:
        for stream in self._streams:
            await stream.close()


def _thinking(model: str) -> dict[str, str | bool]:
    """Ask a thinking model for few thoughts, and for none in its answer; other models refuse these words."""
    if model.startswith("qwen/qwen3"):
        return {"reasoning_effort": "none", "reasoning_format": "hidden"}
    if model.startswith("openai/gpt-oss"):
        return {"reasoning_effort": "low", "include_reasoning": False}
    return {}
