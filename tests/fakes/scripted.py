"""Parts that do what a test tells them: models, ears and voices without weights or vendors."""

import asyncio
import math
import struct
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertulia.domain.audio import HearingOutcome, Sound, Transcript, Utterance
from tertulia.domain.errors import NoAudio, NotFound
from tertulia.domain.memories import Memory
from tertulia.domain.prompts import ModelEvent, Prompt, TextDelta, TokensUsed, ToolCall, ToolSpec
from tertulia.domain.surfaces import Route

type Step = str | ToolCall | Exception | ModelEvent
type Script = Sequence[Step] | Callable[[Prompt], Sequence[Step]]


@dataclass
class ScriptedModel:
    """Answers each call with the next script; the last one serves all further calls. Strings come word by word."""

    scripts: Sequence[Script] = (("Hello", " there", "."),)
    name: str = "scripted"
    runs_side_by_side: bool = False
    seconds_to_first: float = 0.0
    seconds_a_token: float = 0.0
    prompts: list[Prompt] = field(default_factory=list)
    tools: list[tuple[ToolSpec, ...]] = field(default_factory=list)
    stopped: int = 0
    """How many streams were closed before their end."""

    async def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        script = self.scripts[min(len(self.prompts), len(self.scripts) - 1)]
        self.prompts.append(prompt)
        self.tools.append(tuple(tools))
        steps = script(prompt) if callable(script) else script
        whole = False
        try:
            await asyncio.sleep(self.seconds_to_first)
            for place, step in enumerate(steps):
                if place:
                    await asyncio.sleep(self.seconds_a_token)
                if isinstance(step, Exception):
                    raise step
                yield TextDelta(step) if isinstance(step, str) else step
            yield TokensUsed(tokens_in=sum(len(m.text) for m in prompt.messages) // 4, tokens_out=len(steps))
            whole = True
        finally:
            self.stopped += not whole


@dataclass
class ScriptedClassifier:
    """Always decides the same."""

    route: Route | None = Route.SIMPLE
    seconds: float = 0.0

    async def classify(self, text: str) -> Route | None:
        await asyncio.sleep(self.seconds)
        return self.route


@dataclass
class ScriptedDecoder:
    """Takes any bytes for a WAV of so many seconds; no bytes at all hold no audio."""

    seconds: float = 1.0

    async def decode(self, data: bytes) -> Utterance:
        if not data:
            raise NoAudio
        return Utterance(data=data, container="wav", sound=Sound(b"\0\0" * int(16_000 * self.seconds), 16_000))


@dataclass
class ScriptedDetector:
    """Hears speech of so many seconds."""

    seconds: float = 1.0

    async def speech_seconds(self, sound: Sound) -> float:
        return self.seconds


@dataclass
class ScriptedTranscriber:
    """Understands every utterance as the same words."""

    text: str = "What is the capital of France?"
    language: str = "en-US"
    outcome: HearingOutcome = HearingOutcome.SPEECH
    seconds: float = 0.0
    name: str = "scripted-ear"
    error: Exception | None = None
    heard: list[Utterance] = field(default_factory=list)

    async def transcribe(self, utterance: Utterance, language: str | None) -> Transcript:
        self.heard.append(utterance)
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return Transcript(
            text=self.text,
            language=language or self.language,
            seconds=utterance.sound.seconds,
            outcome=self.outcome,
        )


@dataclass
class ToneVoice:
    """Says every text as a tone of 10 ms a character."""

    name: str = "tone"
    rate: int = 24_000
    most_characters: int = 200
    languages: tuple[str, ...] = ("en-US",)
    seconds_a_call: float = 0.0
    seconds_a_character: float = 0.0
    error: Exception | None = None
    said: list[str] = field(default_factory=list)

    def speaks(self, language: str) -> bool:
        return language in self.languages

    async def speak(self, text: str, voice: str | None = None) -> Sound:
        self.said.append(text)
        await asyncio.sleep(self.seconds_a_call + self.seconds_a_character * len(text))
        if self.error:
            raise self.error
        samples = int(self.rate * 0.01 * len(text))
        wave = (int(8000 * math.sin(place * math.tau * 440 / self.rate)) for place in range(samples))
        return Sound(b"".join(struct.pack("<h", sample) for sample in wave), self.rate)


@dataclass
class OneLanguage:
    """Detects always the same language."""

    language: str | None = "en-US"

    def detect(self, text: str) -> str | None:
        return self.language


@dataclass
class NoMemories:
    """Knows nothing about anybody."""

    async def recall(self, user: str, text: str, limit: int) -> list[Memory]:
        return []

    async def important(self, user: str, limit: int) -> "list[Memory]":
        return []

    async def remember(self, memory: Memory) -> None:
        raise NotImplementedError

    async def list(self, user: str, limit: int = 50) -> "list[Memory]":
        return []

    async def forget(self, user: str, memory_id: str) -> None:
        raise NotFound

    async def forget_all(self, user: str) -> None:
        return


@dataclass
class ScriptedMemories(NoMemories):
    """Recalls the same memories for every text, after a while."""

    memories: Sequence[Memory] = ()
    seconds: float = 0.0
    error: Exception | None = None

    async def recall(self, user: str, text: str, limit: int) -> list[Memory]:
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return list(self.memories)[:limit]


def scripted_parts(model: ScriptedModel | None = None) -> dict[str, Any]:
    """Return every part of an assistant that would need weights or a vendor, by its name."""
    model = model or ScriptedModel()
    return {
        "chat_model": model,
        "agent_model": model,
        "classifier": ScriptedClassifier(),
        "decoder": ScriptedDecoder(),
        "detector": ScriptedDetector(),
        "transcriber": ScriptedTranscriber(),
        "synthesizer": ToneVoice(),
        "languages": OneLanguage(),
        "memories": NoMemories(),
        "embedder": None,
    }
