"""Handing a turn in for a client and passing its events on, whole or as they come."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

from fastapi import Request
from ulid import ULID

from tertulia.domain.errors import TertuliaError, Unavailable
from tertulia.domain.languages import ENGLISH
from tertulia.domain.replies import Done, Failed, Numbered, Spoke
from tertulia.entrypoints.http.sse import EventStream, ServerEvent, StreamHabits
from tertulia.ports import LanguageDetector
from tertulia.usecases.fold import Reply, failure_of, folded
from tertulia.usecases.speak import Speak, SpeechRequest
from tertulia.usecases.taken_turn import TakenTurn
from tertulia.wire import event_for_client


def new_turn_id() -> str:
    """Make the id of a turn."""
    return str(ULID()).lower()


@dataclass(frozen=True, kw_only=True)
class Revoicing:
    """Says again what a stored turn said: stored speech has its text, but no sound."""

    speak: Speak
    languages: LanguageDetector
    language: str | None = None
    voice: str | None = None

    async def __call__(self, events: AsyncIterator[Numbered]) -> AsyncGenerator[Numbered]:
        """Pass events on, giving speech without sound its sound; a voice that fails now loses no words."""
        try:
            async for numbered in events:
                if isinstance(numbered.event, Spoke) and not numbered.event.audio:
                    with suppress(TertuliaError):
                        yield Numbered(numbered.number, await self._said_again(numbered.event))
                else:
                    yield numbered
        finally:
            # At once, not when it is collected: a turn stops when its last listener has gone.
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    async def _said_again(self, spoke: Spoke) -> Spoke:
        language = self.language or self.languages.detect(spoke.text) or ENGLISH
        sound = await self.speak.whole(SpeechRequest(text=spoke.text, voice=self.voice, language=language))
        return Spoke(seq=spoke.seq, text=spoke.text, audio=sound.as_wav(), duration_ms=round(sound.seconds * 1000))


async def reply_of(request: Request, turn: TakenTurn, revoicing: Revoicing) -> Reply:
    """Wait for the whole reply of a turn, or raise what ended it; a client that goes away leaves the turn."""
    events = revoicing(turn.events())
    answering = asyncio.create_task(folded(events))
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return await answering
    finally:
        leaving.cancel()
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        await events.aclose()
    turn.leave()
    raise Unavailable


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def stream_of(turn: TakenTurn, revoicing: Revoicing, habits: StreamHabits) -> EventStream:
    """Return the response that sends a turn's events; a client that goes away leaves the turn."""
    headers = {"X-Turn-Id": turn.turn_id, "X-Conversation-Id": turn.conversation_id}
    return EventStream(for_client(revoicing(turn.events())), habits, headers, turn.leave)


async def for_client(events: AsyncGenerator[Numbered], *, is_replay: bool = False) -> AsyncGenerator[ServerEvent]:
    """Yield events as clients see them; a new turn that fails before it said anything raises its failure instead."""
    may_refuse = not is_replay
    try:
        async for numbered in events:
            event = numbered.event
            if isinstance(event, Failed) and may_refuse:
                raise failure_of(event)
            may_refuse = False
            yield ServerEvent(event.type, event_for_client(event), numbered.number)
            if isinstance(event, Done | Failed):
                return
    finally:
        await events.aclose()
