"""Texts spoken without a turn."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tertulia.domain.errors import UnsupportedMedia
from tertulia.domain.languages import ENGLISH, closest_language
from tertulia.domain.prices import Usage
from tertulia.domain.turns import checked_words
from tertulia.entrypoints.http.accepts import EVENTS, WAV, preferred
from tertulia.entrypoints.http.context import Habits, Parts, Wished
from tertulia.entrypoints.http.counted import counted
from tertulia.entrypoints.http.documents import ASKING
from tertulia.entrypoints.http.models import SayRequest
from tertulia.entrypoints.http.sse import EventStream, ServerEvent
from tertulia.entrypoints.http.who import User
from tertulia.usecases.speak import SpeechRequest
from tertulia.wire import event_for_client

router = APIRouter(prefix="/api", tags=["speech"])

_RENDERINGS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "By `Accept`: one WAV, or `speech` events as sentences are ready and `done` at the end.",
        "content": {WAV: {"schema": {"type": "string", "format": "binary"}}, EVENTS: {"schema": {"type": "string"}}},
    }
}


@dataclass(frozen=True, kw_only=True)
class SpeechCall:
    """A request for speech, with all that answering it takes."""

    request: Request
    assistant: Parts
    habits: Habits
    user: User
    wished: Wished


@router.post("/tts", responses=ASKING | _RENDERINGS, response_class=Response)
async def tts(fields: SayRequest, call: Annotated[SpeechCall, Depends()]) -> Response:
    """Speak a text."""
    assistant, wished = call.assistant, call.wished
    text = checked_words(fields.text, assistant.settings.spoken.max_characters)
    if fields.format not in {None, "wav", WAV}:
        raise UnsupportedMedia("Speech comes as wav only.")
    told = fields.language or wished.language
    language = closest_language(told) if told else assistant.languages.detect(text) or ENGLISH
    wish = SpeechRequest(text=text, voice=fields.voice or wished.voice, language=language)
    if preferred(call.request.headers.get("accept"), (WAV, EVENTS)) == EVENTS:
        return EventStream(_speech(call, wish), call.habits)
    async with counted(assistant, call.user) as used:
        sound = await assistant.speak.whole(wish)
        used.add(assistant.speak.model, Usage(characters=len(text)))
    return Response(sound.as_wav(), media_type=WAV)


async def _speech(call: SpeechCall, wish: SpeechRequest) -> AsyncGenerator[ServerEvent]:
    number, speak = 0, call.assistant.speak
    async with counted(call.assistant, call.user) as used:
        async for spoke in speak.sentences(wish):
            number += 1
            used.add(speak.model, Usage(characters=len(spoke.text)))
            yield ServerEvent(spoke.type, event_for_client(spoke), number)
    yield ServerEvent("done", {"response": wish.text}, number + 1)
