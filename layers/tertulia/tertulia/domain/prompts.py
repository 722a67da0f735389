"""What a chat model is asked, and what it answers, in no vendor's shape."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tertulia.domain.effects import Effect, UndoStep

type Json = Any
"""A JSON value: what `json.loads` gives."""


def texts_in(value: Json) -> Iterator[str]:
    """Yield the texts of a JSON value, however deep; names of fields are none."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from texts_in(item)
        case list() | tuple():
            for item in value:
                yield from texts_in(item)
        case _:
            return


type Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as a model sees it; `parameters` is a JSON schema of an object. One that says no more is trusted least."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    effect: Effect = Effect.OUTWARD
    taints: bool = True
    """Whether its results hold text of others, who might give orders in it: web pages, mail, files, memories."""
    seconds: float | None = None
    """How long it may take, where that is less than the usual."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A model asks for a tool; `arguments` is the JSON text of an object."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, kw_only=True)
class ChatMessage:
    """One message of a prompt; its parts keep labeled data apart from a person's own words."""

    role: Role
    parts: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""

    @property
    def text(self) -> str:
        """All parts as one text, for models that know no parts."""
        return "\n\n".join(part for part in self.parts if part)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Everything a model is asked at once."""

    messages: tuple[ChatMessage, ...]
    temperature: float = 0.7
    max_tokens: int = 2048
    top_p: float = 1.0
    seconds: float = 60.0
    """The deadline of the call."""
    longest_wait: float = math.inf
    """The longest wait before it is tried again; short where another model stands by."""
    form: Mapping[str, Json] | None = None
    """A JSON schema of the answer, for models that can be held to one."""


@dataclass(frozen=True)
class TextDelta:
    """A piece of the answer as the model writes it, markup and reasoning included."""

    text: str


@dataclass(frozen=True)
class QueuedBehind:
    """A local model serves others first."""

    ahead: int


@dataclass(frozen=True, kw_only=True)
class TokensUsed:
    """What a call counted."""

    tokens_in: int
    tokens_out: int
    model: str = ""
    """Which model answered, where that is not the one that was asked."""


type ModelEvent = TextDelta | ToolCall | QueuedBehind | TokensUsed


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What a tool found or did, as text for the model and a line for people."""

    text: str
    ok: bool = True
    summary: str = ""
    data: Mapping[str, Json] = field(default_factory=dict)
    undo: UndoStep | None = None
    """What takes a change back, for tools whose effect is reversible."""
