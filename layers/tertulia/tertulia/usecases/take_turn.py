"""One turn: heard or read, answered, spoken, stored; its reply events are the same on every surface."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from tertulia.domain.errors import ModelBusy, ProviderFailed, TertuliaError
from tertulia.domain.languages import ENGLISH, closest_language
from tertulia.domain.phrases import phrase
from tertulia.domain.prices import PriceTable
from tertulia.domain.redaction import redacted
from tertulia.domain.replies import (
    AnswerEvent,
    Degraded,
    Done,
    Failed,
    Measured,
    ModelUsed,
    Receipt,
    ReplyEvent,
    Transcribed,
    with_note,
)
from tertulia.domain.turns import Conversation, Turn, TurnRequest
from tertulia.ports import Answer, Clock, ConversationStore, LanguageDetector, Question
from tertulia.ports.follow_up import FollowUp
from tertulia.usecases.hear import Hear
from tertulia.usecases.limits import Limits
from tertulia.usecases.quiet import Quiet
from tertulia.usecases.speak import Speak
from tertulia.usecases.stopping import until
from tertulia.usecases.turn_record import TurnRecord
from tertulia.usecases.wishes import Wishes

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class TakeTurn:
    """The use case behind every surface; calling it yields the events of one turn, to `done` or `error`."""

    conversations: ConversationStore
    hear: Hear
    answer: Answer
    speak: Speak
    languages: LanguageDetector
    clock: Clock
    follow_up: FollowUp
    limits: Limits
    wishes: Wishes
    quiet: Quiet = field(default_factory=Quiet)
    prices: PriceTable = field(default_factory=lambda: PriceTable({}))
    turn_seconds: float = 120.0

    async def __call__(
        self, request: TurnRequest, conversation: Conversation, stopping: asyncio.Event
    ) -> AsyncGenerator[ReplyEvent]:
        """Yield the turn's events; `stopping` ends it early, and what was said is kept."""
        record = TurnRecord(request, self.clock.now())
        try:
            with self.quiet.person():
                async with aclosing(self._events(request, conversation, record, stopping)) as events:
                    async for event in events:
                        yield event
        finally:
            # Counted after the last event, in the turn's own task, which ends before a Lambda freezes.
            await self.limits.record(request, record.used(self.prices))

    async def _events(
        self, request: TurnRequest, conversation: Conversation, record: TurnRecord, stopping: asyncio.Event
    ) -> AsyncGenerator[ReplyEvent]:
        try:
            async with aclosing(
                until(self._answered(request, conversation, record), stopping, self.turn_seconds)
            ) as events:
                async for event in events:
                    if record.add(event):
                        yield event  # type: ignore[misc]  # what `add` passes on is a ReplyEvent
        except TertuliaError as error:
            record.failed_with(error)
        except Exception:
            # A defect of ours: the words are kept and the client is told, before whoever runs the turn logs it.
            record.failed_with(TertuliaError())
            yield await self._ended(record, conversation, was_stopped=False)
            raise
        yield await self._ended(record, conversation, was_stopped=stopping.is_set())

    async def _answered(
        self, request: TurnRequest, conversation: Conversation, record: TurnRecord
    ) -> AsyncGenerator[AnswerEvent]:
        request = request.wishing(await self.wishes.settings(request.user))
        text, heard_language = request.text, None
        if request.audio is not None:
            started = time.monotonic()
            transcript = await self.hear(request.audio, request.language)
            text, heard_language = transcript.text, transcript.language
            yield Measured(stage="transcribe", ms=_since(started))
            yield ModelUsed(job="transcribe", model=self.hear.model)
            yield Transcribed(text=text, language=heard_language, outcome=transcript.outcome)
            record.audio_seconds = transcript.seconds
            if transcript.is_silence:
                return
        language = self._language(request.language or heard_language, text)
        text = redacted(text, language)
        record.asked(text, language)
        events = self.answer(Question(request=request, conversation=conversation, text=text, language=language))
        if request.speak:
            events = self.speak.along(events, request.voice, language)
        async with aclosing(events):
            async for event in events:
                yield event

    def _language(self, told: str | None, text: str) -> str:
        return closest_language(told) if told else self.languages.detect(text) or ENGLISH

    async def _ended(self, record: TurnRecord, conversation: Conversation, *, was_stopped: bool) -> ReplyEvent:
        """Store what there is to store, and only then say how the turn ended."""
        turn = record.turn(self.clock.now(), self.prices, interrupted=was_stopped)
        error = record.error
        if record.was_asked and not record.was_refused:
            try:
                await asyncio.shield(self.conversations.append(conversation, turn))
            except TertuliaError as failure:
                error = failure
        receipt = turn.receipt
        if record.was_asked and error is None:
            receipt = await self._handed_over(conversation, turn)
        if error is not None:
            return Failed(code=error.code, message=_sentence(error, turn.language), retry_after=error.retry_after)
        return Done(
            response=turn.answer,
            conversation_id=conversation.id,
            turn_id=turn.id if record.was_asked else None,
            route=turn.route,
            receipt=receipt,
            interrupted=turn.interrupted,
        )

    async def _handed_over(self, conversation: Conversation, turn: Turn) -> Receipt:
        """Hand the stored turn over to its follow-up; where that fails it is found later, and the receipt says so."""
        try:
            await asyncio.shield(self.follow_up.start(conversation, turn))
        except TertuliaError as failure:
            logger.warning("a turn was not handed over to its follow-up: %s", failure.code)
            return with_note(turn.receipt, Degraded(what="follow_up"))
        return turn.receipt


def _sentence(error: TertuliaError, language: str) -> str:
    """Say a model's failure in the user's language; the other errors say what to do in their own words."""
    if not isinstance(error, ProviderFailed):
        return error.message
    if error.retry_after and error.code == ModelBusy.code:
        return phrase("model_busy_wait", language, seconds=str(math.ceil(error.retry_after)))
    return phrase(error.code, language)


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
