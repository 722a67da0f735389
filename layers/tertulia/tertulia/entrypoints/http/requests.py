"""From the fields of a request to a turn."""

from collections.abc import Sequence
from dataclasses import replace

from fastapi import UploadFile

from tertulia.assistant import Assistant
from tertulia.domain.errors import InvalidRequest, TooLarge
from tertulia.domain.phrases import phrase
from tertulia.domain.surfaces import Surface
from tertulia.domain.turns import Attachment, TurnRequest
from tertulia.entrypoints.http.context import TurnCall
from tertulia.entrypoints.http.errors import language_of
from tertulia.entrypoints.http.limits import VOICE_MESSAGE
from tertulia.entrypoints.http.models import ChatRequest, TurnFields
from tertulia.entrypoints.http.turn_taking import Revoicing, new_turn_id
from tertulia.usecases.attach import Attach
from tertulia.usecases.hear import MOST_BYTES as VOICE_BYTES
from tertulia.usecases.uploads import Purpose, Uploads


def uploads_of(assistant: Assistant) -> Uploads:
    """Return the uploads of an application."""
    return Uploads(assistant.blobs, assistant.clock, assistant.transfers)


def revoicing(assistant: Assistant, language: str | None = None, voice: str | None = None) -> Revoicing:
    """Return what says again the speech of a replayed turn."""
    return Revoicing(speak=assistant.speak, languages=assistant.languages, language=language, voice=voice)


def turn_request(call: TurnCall, fields: TurnFields, surface: Surface, text: str = "") -> TurnRequest:
    """Begin a turn from what every request of one may say."""
    return TurnRequest(
        user=call.user,
        turn_id=new_turn_id(),
        text=text,
        surface=surface,
        conversation_id=fields.conversation_id,
        client_message_id=fields.client_message_id or call.key,
        language=fields.language,
        style=fields.style,
        scenario=fields.scenario,
        device_id=fields.device_id,
        timezone=fields.timezone,
        voice=fields.voice,
    )


async def typed_turn(call: TurnCall, fields: ChatRequest) -> TurnRequest:
    """Return a typed turn of the spoken surface."""
    attachments = await attached(call, fields.attachments or [])
    text = asked_words(fields.text, attachments, fields.language or language_of(call.request.scope))
    return replace(turn_request(call, fields, call.assistant.settings.spoken, text), attachments=attachments)


async def attached(call: TurnCall, upload_ids: Sequence[str]) -> tuple[Attachment, ...]:
    """Return the uploads of a question as its attachments."""
    uploads, attach = uploads_of(call.assistant), Attach(call.assistant.blobs, call.assistant.clock)
    attachments = []
    # One after the other: twenty files of 20 MB would not fit in a function's memory.
    for upload_id in upload_ids:
        blob = await uploads.open(call.user, upload_id, Purpose.ATTACHMENT)
        attachments.append(await attach(call.user, blob.name, blob.data))
    return tuple(attachments)


async def recording(assistant: Assistant, user: str, audio: UploadFile | None, upload_id: str | None) -> bytes:
    """Return the recording of a request, sent with it or before it."""
    if upload_id:
        blob = await uploads_of(assistant).open(user, upload_id, Purpose.AUDIO)
        return blob.data
    if audio is None:
        raise InvalidRequest("audio: the recording is missing; send it as the file field `audio`, or an upload_id.")
    if audio.size is not None and audio.size > VOICE_BYTES:
        raise TooLarge(VOICE_MESSAGE)
    return await audio.read()


def asked_words(words: str, attachments: tuple[Attachment, ...], language: str) -> str:
    """Return the words of a question; files without words ask for themselves."""
    if words.strip() or not attachments:
        return words
    first = attachments[0]
    if first.media_type.startswith("image/"):
        return phrase("attachment_image", language)
    return phrase("attachment", language, name=first.name, bytes=str(first.size))
