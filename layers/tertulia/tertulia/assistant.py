"""The composition root: builds each part on first use; the only importer of adapters.

A given part wins over the built one: `Assistant(settings, chat_model=ScriptedModel())`. Parts import their SDK when
they are built, so a Lambda loads only what its route touches.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tertulia.answering.classifiers import ExampleClassifier, ModelClassifier, route_examples
from tertulia.answering.parts import AnswerParts, Writer
from tertulia.answering.recall import Recall
from tertulia.answering.routing import Router, tool_keywords
from tertulia.answering.tool_runner import ToolRunner
from tertulia.domain.surfaces import SCREEN, SPOKEN, Surface
from tertulia.ports import (
    Answer,
    AudioDecoder,
    BlobStore,
    ChatModel,
    Clock,
    ConversationStore,
    Embedder,
    LanguageDetector,
    MemoryStore,
    RouteClassifier,
    SpeechDetector,
    Synthesizer,
    Tool,
    Transcriber,
    TurnClaims,
    TurnEvents,
)
from tertulia.settings import Settings
from tertulia.tools.catalog import built_in_tools
from tertulia.usecases.hear import Hear
from tertulia.usecases.speak import Speak
from tertulia.usecases.take_turn import TakeTurn
from tertulia.usecases.turn_desk import TurnDesk

if TYPE_CHECKING:
    from tertulia.adapters.aws.stores import AwsStores
    from tertulia.adapters.embedded.local_models import LocalModels
    from tertulia.adapters.embedded.model_library import ModelLibrary
    from tertulia.adapters.embedded.sqlite import Database
    from tertulia.adapters.embedded.stores import EmbeddedStores
    from tertulia.adapters.groq.connection import GroqConnection

AGENT_TEMPERATURE = 0.0


@runtime_checkable
class Prepared(Protocol):
    """A part that is slow to make ready: it loads a model or pays for an import."""

    async def prepare(self) -> None:
        """Make it ready, so that the first turn does not wait."""
        ...


@runtime_checkable
class Closed(Protocol):
    """A part that holds something open."""

    async def close(self) -> None:
        """Let it go."""
        ...


class Assistant:
    """One application object, whichever way it is entered."""

    is_ready = False

    def __init__(self, settings: Settings, **parts: Any) -> None:
        unknown = [name for name in parts if not isinstance(getattr(type(self), name, None), cached_property)]
        if unknown:
            raise TypeError(f"the assistant has no such parts: {', '.join(unknown)}")
        self.settings = settings
        self.__dict__.update(parts)

    async def start(self) -> None:
        """Make everything that a turn needs ready, side by side."""
        await asyncio.gather(*(part.prepare() for part in self._turn_parts() if isinstance(part, Prepared)))
        self.is_ready = True

    async def close(self) -> None:
        """End the running turns, each stored, then let go of what is open."""
        if "turns" in self.__dict__:
            await self.turns.close()
        # One object may serve as two parts, as the local model does for answers and for tools.
        for part in {id(part): part for part in self.__dict__.values()}.values():
            if isinstance(part, Closed) and not isinstance(part, TurnDesk):
                await part.close()
        self.is_ready = False

    def _turn_parts(self) -> Iterable[object]:
        """Name the parts a turn touches, each once."""
        parts = (
            self.stores,
            self.chat_model,
            self.agent_model,
            self.classifier,
            self.transcriber,
            self.detector,
            self.decoder,
            self.synthesizer,
            self.languages,
            self.embedder,
            self.answer,
        )
        return {id(part): part for part in parts}.values()

    @cached_property
    def spoken(self) -> Surface:
        """The spoken surface, with what the settings change."""
        settings = self.settings
        return replace(SPOKEN, history_messages=settings.agent_history_limit, model_calls=settings.max_agent_iterations)

    @cached_property
    def screen(self) -> Surface:
        """The screen surface, with what the settings change."""
        settings = self.settings
        return replace(SCREEN, history_messages=settings.agent_history_limit, model_calls=settings.agent_max_rounds)

    @cached_property
    def clock(self) -> Clock:
        """The time."""
        from tertulia.adapters.embedded.clock import SystemClock

        return SystemClock()

    @cached_property
    def models(self) -> "ModelLibrary":
        """The model files of this machine."""
        from tertulia.adapters.embedded.model_library import ModelLibrary

        return ModelLibrary(self.settings.models_dir)

    @cached_property
    def local(self) -> "LocalModels":
        """The models that run on this machine."""
        from tertulia.adapters.embedded.local_models import LocalModels

        return LocalModels(self.models, self.settings.local_llm, self.settings.whisper)

    @cached_property
    def database(self) -> "Database":
        """The SQLite database of this machine."""
        from tertulia.adapters.embedded.sqlite import Database

        return Database(self.settings.memory_db_path)

    @cached_property
    def stores(self) -> "EmbeddedStores | AwsStores":
        """The stores of the profile."""
        settings = self.settings
        if settings.profile == "aws":
            from tertulia.adapters.aws.stores import AwsStores

            return AwsStores(settings.table_name, settings.bucket_name, self.clock)
        from tertulia.adapters.embedded.stores import EmbeddedStores

        return EmbeddedStores(self.database, settings.data_dir / "files", self.clock)

    @cached_property
    def model_names(self) -> tuple[str, ...]:
        """The models this machine uses, as the manifest names them."""
        return self.local.names

    @cached_property
    def groq(self) -> "GroqConnection | None":
        """The connection to Groq, where a key is set."""
        if self.settings.groq_api_key is None:
            return None
        from tertulia.adapters.groq.connection import GroqConnection

        return GroqConnection(self.settings.groq_api_key, self.clock, self.settings.groq_base_url)

    @cached_property
    def conversations(self) -> ConversationStore:
        """Where conversations are kept."""
        return self.stores.conversations

    @cached_property
    def claims(self) -> TurnClaims:
        """Who asked first."""
        return self.stores.claims

    @cached_property
    def events(self) -> TurnEvents:
        """The events of turns, for replays."""
        return self.stores.events

    @cached_property
    def blobs(self) -> BlobStore:
        """Where files are kept."""
        return self.stores.blobs

    @cached_property
    def memories(self) -> MemoryStore | None:
        """What is known about users; the cloud keeps no memories yet, and receipts say so."""
        if self.settings.profile == "aws":
            return None
        from tertulia.adapters.embedded.sqlite_memories import SqliteMemories

        return SqliteMemories(self.database, self.embedder, self.clock)

    @cached_property
    def chat_model(self) -> ChatModel:
        """Writes the simple and persona answers."""
        if self.groq is None:
            return self.local.chat_model
        from tertulia.adapters.groq.chat import GroqChat

        return GroqChat(self.groq, self.settings.groq_llm_model)

    @cached_property
    def agent_model(self) -> ChatModel:
        """Calls tools."""
        if self.groq is None:
            return self.chat_model
        from tertulia.adapters.groq.chat import GroqChat

        return GroqChat(self.groq, self.settings.groq_agent_model, "GROQ_AGENT_MODEL")

    @cached_property
    def embedder(self) -> Embedder:
        """Texts to vectors, on this machine whichever models answer."""
        return self.local.embedder

    @cached_property
    def languages(self) -> LanguageDetector:
        """Tells the language of a text."""
        from tertulia.adapters.embedded.langid import LangidDetector

        return LangidDetector()

    @cached_property
    def decoder(self) -> AudioDecoder:
        """Any recording to sound."""
        from tertulia.adapters.embedded.pyav import PyavDecoder

        return PyavDecoder()

    @cached_property
    def detector(self) -> SpeechDetector:
        """Voice activity."""
        return self.local.detector

    @cached_property
    def transcriber(self) -> Transcriber:
        """Speech to text."""
        if self.groq is None:
            return self.local.transcriber
        from tertulia.adapters.groq.transcriber import GroqTranscriber, HearingHints

        hints = HearingHints(words=self.settings.stt_prompt, language=self.settings.stt_language)
        return GroqTranscriber(self.groq, self.settings.groq_stt_model, hints)

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """Text to speech."""
        if self.groq is None:
            return self.local.synthesizer
        from tertulia.adapters.groq.synthesizer import GroqSynthesizer

        return GroqSynthesizer(self.groq, self.settings.groq_tts_model, self.settings.tts_voice)

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """What the agent can do."""
        return built_in_tools(self.clock)

    @cached_property
    def classifier(self) -> RouteClassifier:
        """Decides the route where no keyword does: a vendor's model by its prompt, else nearest examples."""
        if self.groq is None:
            return ExampleClassifier(self.embedder, route_examples())
        return ModelClassifier(model=self.chat_model)

    @cached_property
    def router(self) -> Router:
        """Chooses routes."""
        return Router(tool_keywords(), self.classifier)

    @cached_property
    def hear(self) -> Hear:
        """Recordings to words."""
        return Hear(decoder=self.decoder, detector=self.detector, transcriber=self.transcriber)

    @cached_property
    def speak(self) -> Speak:
        """Words to speech."""
        return Speak(self.synthesizer)

    @cached_property
    def answer(self) -> Answer:
        """The graph."""
        from tertulia.answering.graph import GraphAnswer

        settings = self.settings
        return GraphAnswer(
            AnswerParts(
                conversations=self.conversations,
                recall=Recall(self.memories, settings.recall_seconds),
                router=self.router,
                chat=self._writer(self.chat_model, settings.llm_temperature),
                agent=self._writer(self.agent_model, AGENT_TEMPERATURE),
                tools=ToolRunner(self.tools, settings.tool_seconds),
            )
        )

    def _writer(self, model: ChatModel, temperature: float) -> Writer:
        settings = self.settings
        return Writer(
            model=model,
            temperature=temperature,
            max_tokens=settings.llm_max_tokens,
            top_p=settings.llm_top_p,
            seconds=settings.model_seconds,
        )

    @cached_property
    def turns(self) -> TurnDesk:
        """Where turns are handed in."""
        take_turn = TakeTurn(
            conversations=self.conversations,
            hear=self.hear,
            answer=self.answer,
            speak=self.speak,
            languages=self.languages,
            clock=self.clock,
            prices=self.settings.prices,
            turn_seconds=self.settings.turn_seconds,
        )
        return TurnDesk(take_turn, self.conversations, self.claims, self.events, self.clock)
