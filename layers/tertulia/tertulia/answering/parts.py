"""What the nodes of the graph work with, and what they pass on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict, runtime_checkable

from tertulia.answering.draft import EarlyAnswer
from tertulia.answering.recall import Recall
from tertulia.answering.routing import Router
from tertulia.answering.telling import Tell
from tertulia.answering.tool_runner import ToolRunner
from tertulia.domain.memories import Memory
from tertulia.domain.prompts import ChatMessage, Prompt, ToolCall, ToolSpec
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import Turn
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


@dataclass(kw_only=True)
class Run:
    """One answer being made: what every node gets."""

    parts: AnswerParts
    question: Question
    tell: Tell
    early: EarlyAnswer


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
