"""Groq's language models, through Groq's own client: it is there in a third of the time that LangChain's takes."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tertulia.adapters.chat_protocol import Patience, ToolCallPieces, function_of, messages_of
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.model_failures import ModelChoice
from tertulia.domain.prompts import ModelEvent, Prompt, TextDelta, TokensUsed, ToolSpec

if TYPE_CHECKING:
    from groq.types import CompletionUsage
    from groq.types.chat import ChatCompletionChunk
    from groq.types.chat.chat_completion_chunk import ChoiceDelta


class GroqChat:
    """A model at Groq as a ChatModel, with its failures retried until the first word."""

    def __init__(self, connection: GroqConnection, model: str, setting: str = "GROQ_LLM_MODEL") -> None:
        self._connection = connection
        self._choice = ModelChoice(name=model, setting=setting)

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
        await asyncio.to_thread(lambda: self._connection.sdk.chat.completions)

    def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        """Answer with text as it is written, or with tool calls; once something is out, nothing is tried again."""
        return self._connection.retries.stream(partial(self._attempt, tools=tools), prompt)

    async def _attempt(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> AsyncGenerator[ModelEvent]:
        """Ask once: text as it is written, then the tool calls joined and the tokens counted."""
        patience, calls, used, is_answer = Patience(prompt.seconds), ToolCallPieces(), None, False
        with self._connection.guard(self._choice):
            completions = self._connection.sdk.chat.completions
            async with await patience.wait_for(completions.create(**self._asked(prompt, tools))) as chunks:
                while (chunk := await patience.wait_for(anext(chunks, None))) is not None:
                    used = _usage(chunk) or used
                    for choice in chunk.choices or ():
                        is_answer = True
                        _gather(choice.delta, calls)
                        if choice.delta.content:
                            yield TextDelta(choice.delta.content)
            if not is_answer:
                raise ValueError("the answer is no stream of choices")
        for call in calls.joined():
            yield call
        if used:
            yield TokensUsed(tokens_in=used.prompt_tokens, tokens_out=used.completion_tokens)

    def _asked(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        return {
            "model": self.name,
            "messages": messages_of(prompt),
            "stream": True,
            "temperature": prompt.temperature,
            "top_p": prompt.top_p,
            "max_completion_tokens": prompt.max_tokens,
            **({"tools": [function_of(tool) for tool in tools]} if tools else {}),
            **_thinking(self.name),
        }


def _usage(chunk: "ChatCompletionChunk") -> "CompletionUsage | None":
    return chunk.usage or (chunk.x_groq.usage if chunk.x_groq else None)


def _gather(delta: "ChoiceDelta", calls: ToolCallPieces) -> None:
    for piece in delta.tool_calls or ():
        name, arguments = (piece.function.name, piece.function.arguments) if piece.function else (None, None)
        calls.add(piece.index, piece.id, name, arguments)


def _thinking(model: str) -> dict[str, str | bool]:
    """Ask a thinking model for few thoughts, and for none in its answer; other models refuse these words."""
    if model.startswith("qwen/qwen3"):
        return {"reasoning_effort": "none", "reasoning_format": "hidden"}
    if model.startswith("openai/gpt-oss"):
        return {"reasoning_effort": "low", "include_reasoning": False}
    return {}
