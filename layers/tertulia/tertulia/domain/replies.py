"""The reply events of a turn, the one stream that every surface renders, and the receipt they fold into."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Literal

from tertulia.domain.prompts import Json, ToolResult
from tertulia.domain.surfaces import Route, RouteReason


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a turn took: milliseconds by stage, models, tokens, cost, and what was missing."""

    stages: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})
    audio_seconds: float = 0.0
    cost_microdollars: int = 0
    memories_used: int = 0
    tools_used: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return it as plain JSON values."""
        return asdict(self) | {"tools_used": list(self.tools_used), "degraded": list(self.degraded)}


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A local model is busy; `ahead` turns come first."""

    ahead: int
    type: Literal["waiting"] = "waiting"


@dataclass(frozen=True, kw_only=True)
class RouteChosen:
    """The way this turn is answered."""

    route: Route
    reason: RouteReason
    turn_id: str
    conversation_id: str
    type: Literal["route"] = "route"


@dataclass(frozen=True, kw_only=True)
class Transcribed:
    """What was heard so far; `final` closes it. Silence is an empty text with outcome `silence`."""

    text: str
    language: str
    final: bool = True
    outcome: str = "speech"
    type: Literal["transcript"] = "transcript"


@dataclass(frozen=True, kw_only=True)
class MemoriesUsed:
    """The memories that entered the prompt."""

    ids: tuple[str, ...]
    type: Literal["memory"] = "memory"


@dataclass(frozen=True, kw_only=True)
class ToolCalled:
    """The agent uses a tool."""

    tool: str
    arguments: Mapping[str, Json]
    call_id: str = ""
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, kw_only=True)
class ToolReturned:
    """A tool has answered, or failed."""

    tool: str
    ok: bool
    summary: str
    ms: int
    call_id: str = ""
    result: str = ""
    type: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, kw_only=True)
class ConfirmationAsked:
    """A step waits for the user's own yes; the turn ends with it."""

    confirmation_id: str
    tool: str
    arguments: Mapping[str, Json]
    question: str
    expires_at: datetime
    type: Literal["confirm"] = "confirm"


@dataclass(frozen=True, kw_only=True)
class Token:
    """A piece of the answer; joined, the tokens are the response."""

    text: str
    type: Literal["token"] = "token"


@dataclass(frozen=True, kw_only=True)
class Spoke:
    """One sentence as a whole WAV; a replayed one has no audio until it is made again from its text."""

    seq: int
    text: str
    audio: bytes
    duration_ms: int
    format: str = "wav"
    type: Literal["speech"] = "speech"


@dataclass(frozen=True, kw_only=True)
class Done:
    """The turn is stored; silence has no turn id."""

    response: str
    conversation_id: str
    turn_id: str | None
    route: Route | None
    receipt: Receipt
    interrupted: bool = False
    type: Literal["done"] = "done"


@dataclass(frozen=True, kw_only=True)
class Failed:
    """The turn ended in a failure: a stable code and a plain sentence."""

    code: str
    message: str
    retry_after: float | None = None
    type: Literal["error"] = "error"


type ReplyEvent = (
    Waiting
    | RouteChosen
    | Transcribed
    | MemoriesUsed
    | ToolCalled
    | ToolReturned
    | ConfirmationAsked
    | Token
    | Spoke
    | Done
    | Failed
)


@dataclass(frozen=True)
class Numbered:
    """A reply event with its number in the turn; numbers grow from 1."""

    number: int
    event: ReplyEvent


@dataclass(frozen=True, kw_only=True)
class Measured:
    """For the receipt only: a stage took so many milliseconds."""

    stage: str
    ms: int


@dataclass(frozen=True, kw_only=True)
class ModelUsed:
    """For the receipt only: which model did what, and the tokens it counted."""

    job: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, kw_only=True)
class Degraded:
    """For the receipt only: something was missing, and the turn went on without it."""

    what: str


type Note = Measured | ModelUsed | Degraded
"""What only the receipt learns; no client sees it as an event."""

type AnswerEvent = ReplyEvent | Note


def with_note(receipt: Receipt, note: Note) -> Receipt:
    """Return the receipt with one more note."""
    match note:
        case Measured(stage=stage, ms=ms):
            return replace(receipt, stages={**receipt.stages, stage: receipt.stages.get(stage, 0) + ms})
        case ModelUsed(job=job, model=model, tokens_in=tokens_in, tokens_out=tokens_out):
            tokens = {"in": receipt.tokens["in"] + tokens_in, "out": receipt.tokens["out"] + tokens_out}
            return replace(receipt, models={**receipt.models, job: model}, tokens=tokens)
        case Degraded(what=what):
            kept = receipt.degraded if what in receipt.degraded else (*receipt.degraded, what)
            return replace(receipt, degraded=kept)


def returned(call_id: str, tool: str, result: ToolResult, ms: int) -> ToolReturned:
    """Say that a tool has answered."""
    return ToolReturned(
        tool=tool, ok=result.ok, summary=result.summary or result.text[:200], ms=ms, call_id=call_id, result=result.text
    )
