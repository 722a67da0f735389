"""The protocols between the product and the world, on one page: read this file first.

An adapter is any object of the right shape; `assistant/` chooses it. Every adapter of a port passes the same
contract tests in `tests/contract`. All failures are `TertuliaError`s.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tertulia.domain.audio import Sound, Transcript, Utterance
from tertulia.domain.prompts import Json, ModelEvent, Prompt, ToolResult, ToolSpec
from tertulia.domain.replies import AnswerEvent, Numbered
from tertulia.domain.summaries import Revision, Summary
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import Conversation, Page, Turn, TurnRequest
from tertulia.ports.memories import MemoryStore as MemoryStore


class Clock(Protocol):
    """The time, so that tests can hold it still."""

    def now(self) -> datetime:
        """Return the time, with zone UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class ChatModel(Protocol):
    """A language model. Closing the stream stops the model."""

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        ...

    @property
    def runs_side_by_side(self) -> bool:
        """Whether a second call costs the first nothing, so that an answer may be begun before it is sure."""
        ...

    def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        """Answer with text as it is written, or with tool calls; raises ProviderFailed and its kinds."""
        ...


class RouteClassifier(Protocol):
    """Decides the route where no keyword does."""

    async def classify(self, text: str) -> Route | None:
        """Return the route, or None when in doubt."""
        ...


class LanguageDetector(Protocol):
    """Tells the language of a text."""

    def detect(self, text: str) -> str | None:
        """Return one of `domain.languages.LANGUAGES`, or None when in doubt."""
        ...


class Embedder(Protocol):
    """Texts to vectors of length 1."""

    @property
    def name(self) -> str:
        """The model's name, stored with each vector, since vectors of different models do not mix."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of 384 numbers for each text."""
        ...


class AudioDecoder(Protocol):
    """Any recording to sound at 16 kHz."""

    async def decode(self, data: bytes) -> Utterance:
        """Judge the bytes, decode and resample them; raises NoAudio, TooLarge or UnsupportedMedia.

        A decoder that leaves some containers to the transcriber gives these without their sound.
        """
        ...


class SpeechDetector(Protocol):
    """Voice activity."""

    async def speech_seconds(self, sound: Sound) -> float:
        """Return for how long somebody speaks in the sound."""
        ...


class Transcriber(Protocol):
    """Speech to text."""

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        ...

    async def transcribe(self, utterance: Utterance, language: str | None) -> Transcript:
        """Write down what is said; what the model itself takes for no speech is silence."""
        ...


class Synthesizer(Protocol):
    """Text to speech."""

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        ...

    @property
    def rate(self) -> int:
        """Samples a second of what it makes."""
        ...

    @property
    def most_characters(self) -> int:
        """The longest text of one call."""
        ...

    def speaks(self, language: str) -> bool:
        """Whether it has a voice for the language."""
        ...

    async def speak(self, text: str, voice: str | None = None) -> Sound:
        """Say a text of at most `most_characters`, already normalized for speech."""
        ...


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Whose turn a tool works for."""

    user: str
    conversation_id: str | None = None
    turn_id: str | None = None
    language: str = "en-US"
    timezone: str = "UTC"


class Tool(Protocol):
    """Something the agent can do."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told about it."""
        ...

    @property
    def is_configured(self) -> bool:
        """Whether everything it needs is set."""
        ...

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Run it; a failure it can explain is a result with `ok=False`, anything else is raised."""
        ...


class ConversationStore(Protocol):
    """Conversations and their turns. Writes take a Conversation, which only `open` and `get` hand out."""

    async def open(self, user: str, conversation_id: str | None, device_id: str | None = None) -> Conversation:
        """Return the user's conversation, or a new one for None; NotFound for any other id.

        A new one is stored with its first turn, so that an unanswered opening leaves nothing behind.
        """
        ...

    async def get(self, user: str, conversation_id: str) -> Conversation:
        """Return the user's conversation, or raise NotFound."""
        ...

    async def append(self, conversation: Conversation, turn: Turn) -> None:
        """Keep a turn. The same turn id twice keeps one; a failed turn is replaced by its retry.

        Raises NotFound when the conversation was deleted meanwhile.
        """
        ...

    async def recent(self, conversation: Conversation, limit: int) -> list[Turn]:
        """Return the last `limit` whole turns, oldest first."""
        ...

    async def turns(self, conversation: Conversation, after_number: int = -1, limit: int = 500) -> list[Turn]:
        """Return turns whose last message number is above `after_number`, oldest first."""
        ...

    async def find_turn(self, user: str, turn_id: str) -> tuple[Conversation, Turn] | None:
        """Return a turn of the user's by its id, with its conversation."""
        ...

    async def page(
        self, user: str, *, cursor: str | None = None, limit: int = 50, device_id: str | None = None
    ) -> Page[Conversation]:
        """List the user's conversations by last change, newest first; InvalidValue for a cursor not ours."""
        ...

    async def summarize(self, conversation: Conversation, summary: Summary) -> None:
        """Keep what the conversation was about, without counting as a change of it.

        A summary that knows less than the kept one is dropped. Raises NotFound when the conversation was deleted meanwhile.
        """
        ...

    async def revise(self, conversation: Conversation, revision: Revision) -> Conversation:
        """Change what a person may change, without counting as a change of it, and return it as it is then.

        Raises NotFound when the conversation was deleted meanwhile, or has no such action item.
        """
        ...

    async def delete(self, conversation: Conversation) -> None:
        """Delete a conversation with all its turns."""
        ...

    async def delete_all(self, user: str) -> int:
        """Delete every conversation of the user; return how many."""
        ...


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Who asked first with a client_message_id: the key belongs to the user for 24 hours."""

    user: str
    key: str
    digest: str
    """A digest of the request's body, to tell a repetition from a reuse."""
    turn_id: str
    claimed_at: datetime
    conversation_id: str = ""


class TurnClaims(Protocol):
    """Exactly one turn for one client_message_id, over all processes and surfaces."""

    async def claim(self, claim: Claim) -> Claim:
        """Store the claim and return it, or return the one that holds its key already."""
        ...

    async def find(self, user: str, key: str) -> Claim | None:
        """Return the claim that holds a key."""
        ...

    async def release(self, claim: Claim) -> None:
        """Give the key back, when the turn left nothing behind."""
        ...


class TurnEvents(Protocol):
    """The events of running turns and of those that ended in the last hour, over all processes."""

    async def begin(self, user: str, turn_id: str) -> None:
        """Make the turn known as running, forgetting the events and the stop of an earlier, failed try.

        Raises NotFound for a turn id of another user.
        """
        ...

    async def write(self, turn_id: str, events: Sequence[Numbered]) -> None:
        """Add events; speech is kept without its sound, which is made again from its text."""
        ...

    async def read(self, user: str, turn_id: str, after: int = 0) -> list[Numbered]:
        """Return the events numbered above `after`; NotFound for an unknown turn or another user's."""
        ...

    async def ask_to_stop(self, user: str, turn_id: str) -> None:
        """Ask the process that runs the turn to stop it; NotFound as above."""
        ...

    async def is_asked_to_stop(self, turn_id: str) -> bool:
        """Whether somebody asked."""
        ...


@dataclass(frozen=True, kw_only=True)
class Blob:
    """A stored file with what is known about it."""

    key: str
    data: bytes
    name: str
    media_type: str
    created_at: datetime


class BlobStore(Protocol):
    """Files of users, under keys that the server makes."""

    async def put(self, user: str, blob: Blob) -> None:
        """Keep a file; the same key again replaces it."""
        ...

    async def get(self, user: str, key: str) -> Blob:
        """Return a file of the user's, or raise NotFound."""
        ...

    async def remove(self, user: str, key: str) -> None:
        """Delete a file; deleting what is not there is fine."""
        ...


@dataclass(frozen=True, kw_only=True)
class Question:
    """What the graph answers: the words of a turn in its conversation, language and style settled."""

    request: TurnRequest
    conversation: Conversation
    text: str
    language: str


class Answer(Protocol):
    """The graph as the turn sees it."""

    def __call__(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """Choose the route and answer; closing the stream stops the model."""
        ...
