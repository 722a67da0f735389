"""Speak: an answer aloud, sentence by sentence while it is written, or a whole text at once."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass

from tertulia.domain.audio import Sound, joined
from tertulia.domain.errors import InvalidValue, TertuliaError
from tertulia.domain.languages import ENGLISH, LANGUAGES
from tertulia.domain.replies import AnswerEvent, Degraded, ModelUsed, Spoke, Token
from tertulia.domain.sentences import EarlyCuts, SentenceSplitter, pieces, sentences_of
from tertulia.domain.speech_text import SpeechWriter, joined_sentences, speakable_sentences
from tertulia.ports import Synthesizer

MOST_SIDE_BY_SIDE = 4
AT_A_COMMA = EarlyCuts((25,))
"""The first sentence of an answer may begin with its first clause."""
EAGER = EarlyCuts((18, 28, 40, 55, 75), before_joiners=True)
"""For a writer and a voice that share a few cores: each piece is made while the one before it plays."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpeechRequest:
    """A text to say."""

    text: str
    voice: str | None = None
    language: str = ENGLISH


class Speak:
    """Says texts with one synthesizer."""

    def __init__(self, synthesizer: Synthesizer, early: EarlyCuts = AT_A_COMMA) -> None:
        self._synthesizer = synthesizer
        self._early = early

    @property
    def model(self) -> str:
        """The name of the voice's model, for receipts."""
        return self._synthesizer.name

    def speaks(self, language: str) -> bool:
        """Whether there is a voice for the language."""
        return self._synthesizer.speaks(language)

    async def whole(self, request: SpeechRequest) -> Sound:
        """Say a text as one sound, its pieces made side by side; raises InvalidValue for a language without a voice."""
        self._check(request.language)
        text = joined_sentences(speakable_sentences(request.text, request.language))
        turns = asyncio.Semaphore(MOST_SIDE_BY_SIDE)

        async def say(piece: str) -> Sound:
            async with turns:
                return await self._synthesizer.speak(piece, request.voice)

        tasks = [asyncio.create_task(say(piece)) for piece in self._speakable_pieces(text)]
        try:
            sounds = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return joined(sounds, self._synthesizer.rate)

    async def sentences(self, request: SpeechRequest) -> AsyncIterator[Spoke]:
        """Say a text sentence by sentence, each when it is asked for; raises as `whole` does, before the first."""
        self._check(request.language)
        voice = _Voice(self._synthesizer, request.voice, request.language)
        for sentence in sentences_of(request.text):
            async for spoke in voice.say(sentence):
                yield spoke

    async def along(
        self, events: AsyncIterator[AnswerEvent], voice: str | None = None, language: str = ENGLISH
    ) -> AsyncGenerator[AnswerEvent]:
        """Pass an answer's events on, and speak its tokens sentence by sentence; a failed voice never loses the text.

        At most one sentence is made that nobody has taken yet. Closing the stream stops the voice and the answer.
        """
        spoken = _SpokenAnswer(events, _Voice(self._synthesizer, voice, language), SentenceSplitter(self._early))
        producer = asyncio.create_task(spoken.produce())
        try:
            async for event in spoken.taken():
                yield event
            await producer
        finally:
            producer.cancel()
            await asyncio.gather(producer, return_exceptions=True)

    def _check(self, language: str) -> None:
        if not self.speaks(language):
            raise InvalidValue(f"There is no voice for {_name(language)}.")

    def _speakable_pieces(self, text: str) -> Iterator[str]:
        return _with_words(pieces(text, self._synthesizer.most_characters))


class _Voice:
    """Says the sentences of one answer and numbers them."""

    def __init__(self, synthesizer: Synthesizer, voice: str | None, language: str) -> None:
        self.synthesizer = synthesizer
        self.language = language
        self._voice = voice
        self._writer = SpeechWriter(language)
        self._spoken = 0

    async def say(self, sentence: str) -> AsyncIterator[Spoke]:
        """Say a sentence: once, or in pieces when it is longer than the synthesizer takes; nothing for no words."""
        limit = self.synthesizer.most_characters
        for text in pieces(sentence, limit):
            # Written out, numbers may be longer than they were.
            parts = _with_words(pieces(self._writer.write(text), limit))
            sounds = [await self.synthesizer.speak(part, self._voice) for part in parts]
            if sounds:
                sound = joined(sounds, self.synthesizer.rate)
                milliseconds = round(sound.seconds * 1000)
                yield Spoke(seq=self._spoken, text=text.strip(), audio=sound.as_wav(), duration_ms=milliseconds)
                self._spoken += 1


class _SpokenAnswer:
    """One answer while it is written and spoken: a task that produces events, and the one who takes them."""

    def __init__(self, events: AsyncIterator[AnswerEvent], voice: _Voice, splitter: SentenceSplitter) -> None:
        self._events = events
        self._voice = voice
        self._splitter = splitter
        # Of size 1, so that neither the answer nor the voice runs ahead of who listens.
        self._ready: asyncio.Queue[AnswerEvent] = asyncio.Queue(1)
        self._sentences: asyncio.Queue[str] = asyncio.Queue()

    async def taken(self) -> AsyncIterator[AnswerEvent]:
        """Yield what is produced, until nothing more comes."""
        while True:
            try:
                yield await self._ready.get()
            except asyncio.QueueShutDown:
                return

    async def produce(self) -> None:
        """Pass the events on and speak beside them; ends when both are through."""
        speaker = asyncio.create_task(self._speak())
        try:
            await self._pass_on()
            await speaker
        finally:
            speaker.cancel()
            await asyncio.gather(speaker, return_exceptions=True)
            self._ready.shutdown()

    async def _pass_on(self) -> None:
        try:
            async for event in self._events:
                await self._ready.put(event)
                if isinstance(event, Token):
                    self._hand_over(self._splitter.feed(event.text))
            self._hand_over(self._splitter.finish())
        finally:
            self._sentences.shutdown()
            # In the task that ran it, as generators with their own cancel scopes need it.
            if (close := getattr(self._events, "aclose", None)) is not None:
                await close()

    def _hand_over(self, sentences: list[str]) -> None:
        for sentence in sentences:
            self._sentences.put_nowait(sentence)

    async def _speak(self) -> None:
        if not self._voice.synthesizer.speaks(self._voice.language):
            await self._ready.put(Degraded(what=f"speech: no voice for {_name(self._voice.language)}"))
            return
        try:
            await self._speak_sentences()
        except TertuliaError as failure:
            log.warning("the voice failed, the text goes on: %s", failure.code)
            await self._ready.put(Degraded(what="speech"))

    async def _speak_sentences(self) -> None:
        while True:
            try:
                sentence = await self._sentences.get()
            except asyncio.QueueShutDown:
                return
            async for spoke in self._voice.say(sentence):
                if spoke.seq == 0:
                    await self._ready.put(ModelUsed(job="speech", model=self._voice.synthesizer.name))
                await self._ready.put(spoke)


def _with_words(parts: list[str]) -> Iterator[str]:
    return (part for part in parts if any(character.isalnum() for character in part))


def _name(language: str) -> str:
    return LANGUAGES.get(language, language)
