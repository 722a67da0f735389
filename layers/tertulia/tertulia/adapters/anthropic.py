"""Anthropic's models by its Messages protocol, over httpx: its own client takes seventeen times as long to import."""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from functools import partial

from tertulia.adapters.chat_protocol import Patience, ToolCallPieces
from tertulia.adapters.model_failures import ModelChoice
from tertulia.adapters.model_server import ModelServer
from tertulia.domain.prompts import ChatMessage, Json, ModelEvent, Prompt, TextDelta, TokensUsed, ToolSpec

VERSION = "2023-06-01"


class AnthropicChat:
    """A model at Anthropic as a ChatModel."""

    runs_side_by_side = True

    def __init__(self, server: ModelServer, choice: ModelChoice) -> None:
        self._server = server
        self._choice = choice

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        return self._choice.name

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
        calls, tokens = ToolCallPieces(), {"input_tokens": 0, "output_tokens": 0}
        with self._server.guard(self._choice):
            events = self._server.events("v1/messages", self._asked(prompt, tools), Patience(prompt.seconds))
            async with aclosing(events):
                async for event in events:
                    _gather(event, calls)
                    tokens |= _counted(event)
                    if text := (event.get("delta") or {}).get("text"):
                        yield TextDelta(text)
            if not tokens["input_tokens"]:
                raise ValueError("the answer is no message")
        for call in calls.joined():
            yield call
        yield TokensUsed(tokens_in=tokens["input_tokens"], tokens_out=tokens["output_tokens"])

    def _asked(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> dict[str, Json]:
        system = "\n\n".join(message.text for message in prompt.messages if message.role == "system")
        # Newer models refuse a top_p beside a temperature.
        body = {"model": self.name, "max_tokens": prompt.max_tokens, "temperature": min(prompt.temperature, 1.0)}
        return {
            **body,
            "stream": True,
            **({"system": _whole(system)} if system else {}),
            "messages": list(_messages(prompt)),
            **_tools(prompt, tools),
        }


def _tools(prompt: Prompt, tools: Sequence[ToolSpec]) -> dict[str, Json]:
    """Describe the tools; earlier calls may be shown only beside tools, even where none may be called any more."""
    if tools:
        return {"tools": [_described(tool.name, tool.description, dict(tool.parameters)) for tool in tools]}
    called = dict.fromkeys(call.name for message in prompt.messages for call in message.tool_calls)
    shown = [_described(name, "Not there any more.", {"type": "object"}) for name in called]
    return {"tools": shown, "tool_choice": {"type": "none"}} if shown else {}


def _described(name: str, description: str, parameters: Json) -> Json:
    return {"name": name, "description": description, "input_schema": parameters}


def _gather(event: Json, calls: ToolCallPieces) -> None:
    match event:
        case {"type": "content_block_start", "index": index, "content_block": {"type": "tool_use"} as block}:
            calls.add(index, block["id"], block["name"], None)
        case {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta"} as delta}:
            calls.add(index, None, None, delta.get("partial_json"))


def _counted(event: Json) -> dict[str, int]:
    usage = (event.get("message") or event).get("usage") or {}
    return {name: usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name)}


def _messages(prompt: Prompt) -> Iterator[Json]:
    """Write the messages, joining neighbors of one role: results of tools are the user's there."""
    role, content = "", list[Json]()
    for message in prompt.messages:
        if message.role == "system":
            continue
        own = "assistant" if message.role == "assistant" else "user"
        if own != role and content:
            yield {"role": role, "content": content}
            content = []
        role, content = own, [*content, *_blocks(message)]
    if content:
        yield {"role": role, "content": content}


def _blocks(message: ChatMessage) -> list[Json]:
    if message.role == "tool":
        text = _whole(message.text) or "(nothing)"
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": text}]
    texts = [{"type": "text", "text": _whole(part)} for part in message.parts if part.strip()]
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _object(call.arguments)}
        for call in message.tool_calls
    ]
    return [*texts, *calls]


def _object(arguments: str) -> Json:
    try:
        read = json.loads(arguments)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _whole(text: str) -> str:
    # Half of a surrogate pair can be in no request.
    return text.encode(errors="replace").decode()
