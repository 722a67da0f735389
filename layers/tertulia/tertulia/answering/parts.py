"""What the nodes of the graph work with, and what they pass on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypedDict, runtime_checkable

from tertulia.answering.draft import EarlyAnswer
from tertulia.answering.recall import Recall
from tertulia.answering.routing import Router
from tertulia.answering.taint import Taint
from tertulia.answering.telling import Tell
from tertulia.answering.tool_runner import ToolRunner
from tertulia.answering.toolbox import Toolbox
from tertulia.domain.memories import Memory
from tertulia.domain.prompts import ChatMessage, Prompt, ToolCall, ToolSpec
from tertulia.domain.replies import AnswerEvent, ToolCalled, ToolReturned
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import ToolUse, Turn
from tertulia.ports import ChatModel, ConversationStore, Question


@runtime_checkable
class ReadsAhead(Protocol):
    """A model that gets faster by reading beforehand what every prompt begins with."""

    def read_ahead(self, systems: Sequence[tuple[str, Sequence[ToolSpec]]]) -> None:
        """Read system texts with their tools in the back."""
        ...


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A chat model with the way it is asked."""

    model: ChatModel
    temperature: float = 0.7
    max_tokens: int = 2048
    top_p: float = 1.0
    seconds: float = 60.0

    def prompt(self, messages: tuple[ChatMessage, ...]) -> Prompt:
        """Ask these messages in this way."""
        return Prompt(
            messages=messages,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            top_p=self.top_p,
            seconds=self.seconds,
        )


@dataclass(frozen=True, kw_only=True)
class AnswerParts:
    """Everything the graph needs of the world."""

    conversations: ConversationStore
    recall: Recall
    router: Router
    chat: Writer
    """Writes the simple and persona answers."""
    agent: Writer
    """Calls the tools and answers from what they return."""
    tools: ToolRunner
    settling: "Settles"
    """Does what a message asks for by itself."""
    turn_seconds: float = 120.0
    """How long a turn may take: the agent comes to an end before it."""


@dataclass(kw_only=True)
class Run:
    """One answer being made: what every node gets."""

    parts: AnswerParts
    question: Question
    tell: Tell
    early: EarlyAnswer
    ends_at: float = field(default=math.inf)
    """When the turn is over, by the monotonic clock."""
    toolbox: Toolbox = field(default_factory=Toolbox)
    done: list[ToolUse] = field(default_factory=list)
    """What tools did in this turn."""
    _called: dict[str, ToolCalled] = field(default_factory=dict)

    async def open_toolbox(self) -> None:
        """Get the tools that the user has and the scenario allows."""
        request = self.question.request
        self.toolbox = (await self.parts.tools.boxes.of(request.user)).allowed(request.scenario)

    def note(self, event: AnswerEvent) -> None:
        """Tell an event of a tool, and remember what it did."""
        self.tell(event)
        match event:
            case ToolCalled():
                self._called[event.call_id] = event
            case ToolReturned():
                called = self._called.get(event.call_id)
                use = ToolUse(
                    call_id=event.call_id,
                    name=event.tool,
                    arguments=called.arguments if called else {},
                    result=event.result,
                    ok=event.ok,
                )
                self.done.append(use)


@dataclass(frozen=True)
class Settled:
    """What a message has settled; the agent goes on from its steps, where there are any."""

    steps: tuple[ChatMessage, ...] = ()
    tool: str = ""
    summary: str = ""
    """What to say where no model can."""


class Settles(Protocol):
    """Reads messages by rule."""

    async def __call__(self, run: Run) -> Settled | None:
        """Do what the message asks for by itself; None where a model has to read it."""
        ...


class State(TypedDict, total=False):
    """What the nodes pass on."""

    route: Route
    history: tuple[Turn, ...]
    memories: tuple[Memory, ...]
    calls: tuple[ToolCall, ...]
    """The tools the agent waits for."""
    steps: tuple[ChatMessage, ...]
    """The agent's calls and their results so far, always in pairs."""
    rounds: int
    """How often the agent's model was asked."""
    taint: Taint
    """How near words of others are to the agent's model."""
    is_asking: bool
    """Whether the turn ends with a question to its user."""
