"""Spoken turns, and recordings that are only written down."""

import base64
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Response, UploadFile
from pydantic import BaseModel

from tertulia.domain.errors import Silence
from tertulia.domain.prices import Usage
from tertulia.entrypoints.http.accepts import EVENTS, JSON, WAV, preferred
from tertulia.entrypoints.http.context import Call, Parts, Wished
from tertulia.entrypoints.http.counted import counted
from tertulia.entrypoints.http.documents import ASKING
from tertulia.entrypoints.http.fields import Absent, LanguageField
from tertulia.entrypoints.http.models import Heard, TurnFields, VoiceResponse
from tertulia.entrypoints.http.requests import recording, revoicing, turn_request, uploads_of
from tertulia.entrypoints.http.spoken import audio_error, joined_wav, spoken_headers
from tertulia.entrypoints.http.turn_taking import reply_of, stream_of
from tertulia.entrypoints.http.who import User
from tertulia.usecases.fold import Reply

router = APIRouter(prefix="/api", tags=["turns"])

_RENDERINGS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "By `Accept`: the spoken answer as one WAV with its words in headers, JSON, or events.",
        "content": {WAV: {"schema": {"type": "string", "format": "binary"}}, EVENTS: {"schema": {"type": "string"}}},
        "model": VoiceResponse,
    }
}


class Recording(BaseModel):
    """A recording, sent with the request or before it."""

    audio: Annotated[UploadFile | None, File(description="WAV, WebM, Ogg, MP4, MP3 or FLAC, at most 25 MB.")] = None
    upload_id: Annotated[str | None, Absent] = None


class VoiceForm(TurnFields, Recording):
    """A spoken turn."""


class HearForm(Recording):
    """A recording to be written down."""

    language: LanguageField = None


@router.post("/voice", responses=ASKING | _RENDERINGS)
async def voice(form: Annotated[VoiceForm, Form(media_type="multipart/form-data")], call: Call) -> Response:
    """Answer a recording: as sound with its words in headers, as JSON with both, or as a stream of events."""
    assistant = call.assistant
    audio = await recording(assistant, call.user, form.audio, form.upload_id)
    wish = replace(turn_request(call, form, assistant.settings.spoken), audio=audio, speak=True)
    turn = await assistant.turns.take(wish)
    rendering = preferred(call.request.headers.get("accept"), (WAV, JSON, EVENTS))
    again = revoicing(assistant, form.language, form.voice)
    if rendering == EVENTS:
        return stream_of(turn, again, call.habits)
    reply = await reply_of(call.request, turn, again)
    return _as_json(reply) if rendering == JSON else _as_sound(reply)


def _as_json(reply: Reply) -> Response:
    done, heard = reply.done, reply.transcript
    wav = joined_wav(reply.speech) if reply.speech else None
    body = VoiceResponse.model_validate(
        {
            "transcript": heard.text if heard else "",
            "response": done.response,
            "audio": base64.b64encode(wav).decode() if wav else None,
            "audio_error": audio_error(reply),
            "outcome": "silence" if reply.is_silence else "speech",
            "conversation_id": done.conversation_id,
            "turn_id": done.turn_id,
            "route": done.route,
            "receipt": done.receipt.as_json(),
        }
    )
    silent = set() if body.audio_error else {"audio_error"}
    return Response(body.model_dump_json(exclude=silent), media_type=JSON, headers=_ids(reply))


def _as_sound(reply: Reply) -> Response:
    if reply.is_silence:
        raise Silence
    headers = spoken_headers(reply)
    if reason := audio_error(reply):
        headers["X-Audio-Error"] = reason
    return Response(joined_wav(reply.speech), media_type=WAV, headers=headers)


def _ids(reply: Reply) -> dict[str, str]:
    return {"X-Conversation-Id": reply.done.conversation_id, "X-Turn-Id": reply.done.turn_id or ""}


@router.post("/stt", responses=ASKING)
async def stt(
    form: Annotated[HearForm, Form(media_type="multipart/form-data")], assistant: Parts, user: User, wished: Wished
) -> Heard:
    """Write down what is said in a recording; no turn is taken."""
    data = await recording(assistant, user, form.audio, form.upload_id)
    async with counted(assistant, user) as used:
        transcript = await assistant.hear(data, form.language or wished.language)
        used.add(assistant.hear.model, Usage(audio_seconds=transcript.seconds))
    if form.upload_id:
        await uploads_of(assistant).forget(user, form.upload_id)
    return Heard(
        text=transcript.text,
        language=transcript.language,
        duration_seconds=round(transcript.seconds, 2),
        outcome=transcript.outcome.value,
    )
