"""The chat protocol that most vendors speak: messages and tools as JSON, answers in numbered pieces."""

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field

from tertulia.domain.prompts import ChatMessage, Json, Prompt, ToolCall, ToolSpec


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

    def add(self, index: int | None, call_id: str | None, name: str | None, arguments: str | None) -> None:
        """Take a piece; one without a number continues the last call, unless it names one."""
        if index is None:
            index = len(self._calls) - (0 if call_id or not self._calls else 1)
        elif call_id and name and index in self._calls and self._calls[index].id != call_id:
            index = len(self._calls)  # Google numbers each call 0
        call = self._calls.setdefault(index, _Pieces())
        call.id = call.id or call_id or ""
        call.name = call.name or name or ""
        call.arguments += arguments or ""

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


def messages_of(prompt: Prompt, *, in_parts: bool = True) -> list[dict[str, Json]]:
    """Write the messages of a prompt; texts pass as they are, never as templates. Some servers know no parts."""
    return [_message(message, in_parts=in_parts) for message in prompt.messages]


def _message(message: ChatMessage, *, in_parts: bool) -> dict[str, Json]:
    written: dict[str, Json] = {"role": message.role, "content": _whole(message.text)}
    if in_parts and message.role == "user" and len(message.parts) > 1:
        written["content"] = [{"type": "text", "text": _whole(part)} for part in message.parts if part]
    if message.tool_calls:
        written["content"] = written["content"] or None
        written["tool_calls"] = [_call(call) for call in message.tool_calls]
    return written | ({"tool_call_id": message.tool_call_id} if message.role == "tool" else {})


def _call(call: ToolCall) -> dict[str, Json]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _whole(call.arguments)}}


def _whole(text: str) -> str:
    # Tool results and files may hold half of a surrogate pair, which no request can carry.
    return text.encode(errors="replace").decode()
