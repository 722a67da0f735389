"""Any LangChain chat model behind the ChatModel port."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from tertulia.domain.prompts import ChatMessage, Json, ModelEvent, Prompt, TextDelta, TokensUsed, ToolCall, ToolSpec

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCallChunk


@dataclass(frozen=True)
class LangChainChat:
    """Streams one call of a LangChain model as model events."""

    opened: "Callable[[], AbstractAsyncContextManager[BaseChatModel]]"
    """Gives the model for one call, and lets go of its connection at the end of it."""
    options: Callable[[Prompt], dict[str, Any]]
    """The vendor's own names for what a prompt asks."""
    guard: Callable[[], AbstractContextManager[None]]
    """Turns the vendor's exceptions into ours."""

    async def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        """Answer with text as it is written, then with the tool calls joined and the tokens counted."""
        patience, calls, used = Patience(prompt.seconds), ToolCallPieces(), None
        with self.guard():
            async with self.opened() as model, aclosing(_chunks(model, prompt, tools, self.options(prompt))) as chunks:
                while (chunk := await patience.wait_for(anext(chunks, None))) is not None:
                    calls.add(chunk.tool_call_chunks)
                    used = chunk.usage_metadata or used
                    if text := str(chunk.text):
                        yield TextDelta(text)
        for call in calls.joined():
            yield call
        if used:
            yield TokensUsed(tokens_in=used["input_tokens"], tokens_out=used["output_tokens"])


def _chunks(
    model: "BaseChatModel", prompt: Prompt, tools: Sequence[ToolSpec], options: dict[str, Any]
) -> "AsyncGenerator[AIMessageChunk]":
    runnable = model.bind_tools([function_of(tool) for tool in tools]) if tools else model
    return cast("AsyncGenerator[AIMessageChunk]", runnable.astream(messages_of(prompt), **options))


@dataclass
class Patience:
    """How long a call may still keep us waiting; the time its reader takes does not count."""

    seconds: float

    async def wait_for[T](self, awaitable: Awaitable[T]) -> T:
        """Wait for the next piece, at most for what is left."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout(self.seconds):
                return await awaitable
        finally:
            self.seconds -= loop.time() - begun


@dataclass
class _Pieces:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class ToolCallPieces:
    """Joins tool calls that arrive in pieces; the vendor numbers them."""

    _calls: dict[int, _Pieces] = field(default_factory=dict)

    def add(self, chunks: "Sequence[ToolCallChunk]") -> None:
        """Take the pieces of one chunk; a piece without a number continues the last call, unless it names one."""
        for chunk in chunks:
            index = chunk["index"]
            if index is None:
                index = len(self._calls) - (0 if chunk["id"] or not self._calls else 1)
            call = self._calls.setdefault(index, _Pieces())
            call.id = call.id or chunk["id"] or ""
            call.name = call.name or chunk["name"] or ""
            call.arguments += chunk["args"] or ""

    def joined(self) -> Iterator[ToolCall]:
        """Yield the whole calls in their order; one without arguments has an empty object."""
        for index, call in sorted(self._calls.items()):
            arguments = call.arguments.strip()
            yield ToolCall(
                id=call.id or f"call_{index}",
                name=call.name,
                arguments="{}" if arguments in {"", "null"} else arguments,
            )


def function_of(tool: ToolSpec) -> dict[str, Json]:
    """Write a tool as the function that chat vendors know."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def messages_of(prompt: Prompt) -> "list[BaseMessage]":
    """Write a prompt as LangChain messages; texts pass as they are, never as templates."""
    return [_message(message) for message in prompt.messages]


def _message(message: ChatMessage) -> "BaseMessage":
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

    match message.role:
        case "system":
            return SystemMessage(_whole(message.text))
        case "user" if len(message.parts) > 1:
            return HumanMessage([{"type": "text", "text": _whole(part)} for part in message.parts if part])
        case "user":
            return HumanMessage(_whole(message.text))
        case "tool":
            return ToolMessage(_whole(message.text), tool_call_id=message.tool_call_id)
        case "assistant":
            return _assistant(message)


def _assistant(message: ChatMessage) -> "AIMessage":
    from langchain_core.messages import AIMessage
    from langchain_core.messages.tool import invalid_tool_call, tool_call

    valid, invalid = [], []
    for call in message.tool_calls:
        arguments = _object(call.arguments)
        if arguments is None:
            invalid.append(invalid_tool_call(id=call.id, name=call.name, args=call.arguments))
        else:
            valid.append(tool_call(id=call.id, name=call.name, args=arguments))
    return AIMessage(_whole(message.text), tool_calls=valid, invalid_tool_calls=invalid)


def _object(text: str) -> dict[str, Json] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _whole(text: str) -> str:
    # Tool results and files may hold half of a surrogate pair, which no request can carry.
    return text.encode(errors="replace").decode()
