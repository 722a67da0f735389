"""Texts spoken without a turn."""

from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, Request, Response

from tertulia.domain.errors import UnsupportedMedia
from tertulia.domain.languages import ENGLISH, closest_language
from tertulia.domain.turns import checked_words
from tertulia.entrypoints.http.accepts import EVENTS, WAV, preferred
from tertulia.entrypoints.http.context import Habits, Parts, Wished
from tertulia.entrypoints.http.documents import ASKING
from tertulia.entrypoints.http.models import SayRequest
from tertulia.entrypoints.http.sse import EventStream, ServerEvent
from tertulia.usecases.speak import Speak, SpeechRequest
from tertulia.wire import event_for_client

router = APIRouter(prefix="/api", tags=["speech"])

_RENDERINGS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "By `Accept`: one WAV, or `speech` events as sentences are ready and `done` at the end.",
        "content": {WAV: {"schema": {"type": "string", "format": "binary"}}, EVENTS: {"schema": {"type": "string"}}},
    }
}


@router.post("/tts", responses=ASKING | _RENDERINGS, response_class=Response)
async def tts(request: Request, fields: SayRequest, assistant: Parts, habits: Habits, wished: Wished) -> Response:
    """Speak a text."""
    text = checked_words(fields.text, assistant.settings.spoken.max_characters)
    if fields.format not in {None, "wav", WAV}:
        raise UnsupportedMedia("Speech comes as wav only.")
    told = fields.language or wished.language
    language = closest_language(told) if told else assistant.languages.detect(text) or ENGLISH
    wish = SpeechRequest(text=text, voice=fields.voice or wished.voice, language=language)
    if preferred(request.headers.get("accept"), (WAV, EVENTS)) == EVENTS:
        return EventStream(_speech(assistant.speak, wish), habits)
    sound = await assistant.speak.whole(wish)
    return Response(sound.as_wav(), media_type=WAV)


async def _speech(speak: Speak, wish: SpeechRequest) -> AsyncGenerator[ServerEvent]:
    number = 0
    async for spoke in speak.sentences(wish):
        number += 1
        yield ServerEvent(spoke.type, event_for_client(spoke), number)
    yield ServerEvent("done", {"response": wish.text}, number + 1)
