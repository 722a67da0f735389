"""The composition root: builds each part on first use; the only importer of adapters.

A given part wins over the built one: `Assistant(settings, chat_model=ScriptedModel())`. Parts import their SDK when
they are built, so a Lambda loads only what its route touches.
"""

import asyncio
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tertulia.answering.classifiers import ExampleClassifier, ModelClassifier, route_examples
from tertulia.answering.routing import Router, tool_keywords
from tertulia.assistant import accounts as known
from tertulia.assistant import belongings, devices, reminding, safety, workflows
from tertulia.assistant import follow_up as after_turns
from tertulia.assistant import limits as how_much
from tertulia.assistant import llm_settings as own_models
from tertulia.assistant import memories as remembered
from tertulia.assistant import models as thinking
from tertulia.assistant import retention as how_long
from tertulia.assistant import stores as kept
from tertulia.assistant import tools as tooling
from tertulia.domain.errors import NotConfigured
from tertulia.domain.replies import Done
from tertulia.ports import (
    Answer,
    AudioDecoder,
    Clock,
    Embedder,
    LanguageDetector,
    RouteClassifier,
    SpeechDetector,
    Synthesizer,
    Transcriber,
)
from tertulia.settings import Settings, calm_native_threads
from tertulia.usecases import lifecycle
from tertulia.usecases.hear import Hear
from tertulia.usecases.speak import AT_A_COMMA, EAGER, Speak

if TYPE_CHECKING:
    from tertulia.adapters.embedded.local_models import LocalModels
    from tertulia.adapters.embedded.model_library import ModelLibrary
    from tertulia.adapters.embedded.sqlite import Database
    from tertulia.adapters.groq.provider import GroqModels
    from tertulia.usecases.accounts import Accounts
    from tertulia.usecases.turn_desk import TurnDesk

type TurnListener = Callable[[str, Done], None]
"""Gets the user of a turn and its end."""


class Assistant:
    """One application object, whichever way it is entered."""

    def __init__(self, settings: Settings, **parts: Any) -> None:
        unknown = [name for name in parts if not isinstance(getattr(type(self), name, None), cached_property)]
        if unknown:
            raise TypeError(f"the assistant has no such parts: {', '.join(unknown)}")
        self.settings = settings
        self.is_in_the_cloud = settings.profile == "aws"
        # On Lambda nothing is made ready before it is asked for.
        self.is_ready = self.is_in_the_cloud
        self.listeners: list[TurnListener] = []
        self.cost_listeners: list[Callable[[int], None]] = []
        """Told of every turn that is stored in this process."""
        self._warming: asyncio.Task[None] | None = None
        self.__dict__.update(parts)

    async def start(self) -> None:
        """Make everything that a turn needs ready; what only makes the first one faster follows."""
        await lifecycle.begin((self.chat_model, self.agent_model))
        first = (self.stores, self.answer, self.transcriber, self.embedder, self.detector)
        parts = (
            *first,
            self.chat_model,
            self.agent_model,
            self.synthesizer,
            self.languages,
            self.classifier,
            self.summaries,
        )
        await lifecycle.prepare(parts)
        self.is_ready = True
        self._warming = asyncio.create_task(lifecycle.warm(parts))

    async def close(self) -> None:
        """End the running turns, each stored, then let go of what is open."""
        if self._warming:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if "turns" in self.__dict__:
            await self.turns.close()
        await lifecycle.close(part for name, part in self.__dict__.items() if name != "turns")
        self.is_ready = False

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
        if self.is_in_the_cloud:
            raise NotConfigured("No local models run in the cloud: set GROQ_API_KEY.")
        calm_native_threads()
        from tertulia.assistant.local import local_models

        return local_models(self.settings, self.models)

    @cached_property
    def database(self) -> "Database":
        """The SQLite database of this machine."""
        from tertulia.adapters.embedded.sqlite import Database

        return Database(self.settings.memory_db_path)

    stores = cached_property(kept.stores)
    conversations = cached_property(kept.conversations)
    claims = cached_property(kept.claims)
    events = cached_property(kept.events)
    blobs = cached_property(kept.blobs)
    transfers = cached_property(kept.transfers)
    users = cached_property(kept.users)
    wishes = cached_property(known.wishes)
    tokens = cached_property(kept.tokens)
    sessions = cached_property(kept.sessions)
    memories = cached_property(remembered.store)
    keep_memories = cached_property(remembered.keep)
    memory_vendor = cached_property(remembered.vendor)

    device_link = cached_property(devices.link)
    device_desk = cached_property(devices.desk)

    @cached_property
    def provider(self) -> "GroqModels | LocalModels":
        """Whose models hear, answer and speak: Groq's where its key is set, else this machine's."""
        key = self.settings.groq_api_key
        if key is None:
            return self.local
        from tertulia.assistant.groq import groq_models

        return groq_models(self.settings, key, self.clock)

    @cached_property
    def accounts(self) -> "Accounts":
        """Makes users and tokens."""
        from tertulia.assistant.accounts import accounts

        return accounts(self)

    summaries = cached_property(after_turns.summaries)
    search = cached_property(after_turns.search)
    jobs = cached_property(after_turns.jobs)
    quiet = cached_property(after_turns.quiet)
    remember = cached_property(after_turns.remember)
    summary_is_due = cached_property(after_turns.summary_is_due)
    summarize = cached_property(after_turns.summarize)
    index_summary = cached_property(after_turns.index_summary)
    follow_up_runner = cached_property(after_turns.runner)
    follow_up = cached_property(after_turns.handed_over)
    ask_for_summary = cached_property(after_turns.ask_for_summary)
    failed_follow_ups = cached_property(after_turns.failed)

    chat_servers = cached_property(thinking.chat_servers)
    chat_model = cached_property(thinking.chat_model)
    agent_model = cached_property(thinking.agent_model)
    llm_choices = cached_property(own_models.choices)
    llm_settings = cached_property(own_models.llm_settings)
    chosen_answer = cached_property(own_models.chosen_answer)

    @cached_property
    def embedder(self) -> Embedder:
        """Texts to vectors, on this machine whichever models answer."""
        if self.is_in_the_cloud:
            from tertulia.adapters.embedded.minilm import MiniLmEmbedder

            return MiniLmEmbedder(self.settings.models_dir / "minilm")
        return self.local.embedder

    @cached_property
    def languages(self) -> LanguageDetector:
        """Tells the language of a text."""
        from tertulia.adapters.embedded.langid import LangidDetector

        return LangidDetector()

    @cached_property
    def decoder(self) -> AudioDecoder:
        """Recordings to sound; in the cloud FFmpeg would not fit beside the agent, and the vendor opens what we cannot."""
        if self.is_in_the_cloud:
            from tertulia.adapters.embedded.sndfile import SndfileDecoder

            return SndfileDecoder()
        from tertulia.adapters.embedded.pyav import PyavDecoder

        return PyavDecoder()

    @cached_property
    def detector(self) -> SpeechDetector:
        """Voice activity; in the cloud the vendor's ear judges what is more than silence."""
        if self.is_in_the_cloud:
            from tertulia.adapters.embedded.loudness import LoudnessDetector

            return LoudnessDetector()
        return self.local.detector

    @cached_property
    def transcriber(self) -> Transcriber:
        """Speech to text."""
        return self.provider.transcriber

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """Text to speech."""
        return self.provider.synthesizer

    tavily = cached_property(tooling.tavily)
    brave = cached_property(tooling.brave)
    todos = cached_property(tooling.todos)
    tools = cached_property(tooling.tools)
    tool_providers = cached_property(safety.tool_providers)
    toolboxes = cached_property(safety.toolboxes)
    confirmations = cached_property(safety.confirmations)
    journal = cached_property(safety.journal)
    acting = cached_property(safety.acting)
    undoing = cached_property(safety.undoing)

    @cached_property
    def classifier(self) -> RouteClassifier:
        """Decides the route where no keyword does: a vendor's model by its prompt, a local one by nearest examples."""
        if self.chat_model.runs_side_by_side:
            return ModelClassifier(model=self.chat_model)
        return ExampleClassifier(self.embedder, route_examples())

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
        return Speak(self.synthesizer, AT_A_COMMA if self.chat_model.runs_side_by_side else EAGER)

    @cached_property
    def answer(self) -> Answer:
        """The graph."""
        from tertulia.assistant.turns import graph_answer

        return graph_answer(self)

    rates = cached_property(how_much.rates)
    usage = cached_property(how_much.usage)
    spending = cached_property(how_much.spending)
    limits = cached_property(how_much.limits)
    forget = cached_property(how_long.forget)
    forget_old = cached_property(how_long.forget_old)

    user_events = cached_property(reminding.user_events)
    user_stream = cached_property(reminding.user_stream)
    reminder_store = cached_property(reminding.reminder_store)
    alarms = cached_property(reminding.alarms)
    reminders = cached_property(reminding.reminders)
    ring = cached_property(reminding.ring)
    say_first = cached_property(reminding.say_first)
    reminder_timer = cached_property(reminding.reminder_timer)
    user_jobs = cached_property(belongings.user_jobs)

    failed_executions = cached_property(workflows.failed_executions)
    recordings = cached_property(workflows.recordings)
    recording_workflow = cached_property(workflows.recording_workflow)
    cut_recording = cached_property(workflows.cut_recording)
    transcribe_part = cached_property(workflows.transcribe_part)
    summarize_recording = cached_property(workflows.summarize_recording)

    @cached_property
    def turns(self) -> "TurnDesk":
        """Where turns are handed in."""
        from tertulia.assistant.turns import turn_desk

        return turn_desk(self)
