"""Turns of the screen surface: each answer is a message, and a failing model says so in one."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, File, Form, UploadFile

from tertulia.assistant import Assistant
from tertulia.domain.errors import ModelKey, NotConfigured, ProviderFailed, TertuliaError
from tertulia.domain.languages import ENGLISH
from tertulia.domain.phrases import phrase
from tertulia.domain.turns import NUMBERS_A_TURN, TurnRequest, turn_number
from tertulia.entrypoints.http.context import Call, TurnCall
from tertulia.entrypoints.http.documents import problems
from tertulia.entrypoints.http.errors import language_of
from tertulia.entrypoints.http.fields import Absent
from tertulia.entrypoints.http.models import ScreenMessage, ScreenRequest, ScreenResponse, TurnFields
from tertulia.entrypoints.http.requests import asked_words, attached, revoicing, turn_request
from tertulia.entrypoints.http.turn_taking import reply_of
from tertulia.entrypoints.http.views import tool_calls
from tertulia.usecases.attach import Attach

router = APIRouter(prefix="/api/chat", tags=["screen"])
_FAILURES = problems(401, 409, 415, 503)


class FileRequest(ScreenRequest):
    """A typed turn of the screen surface with a file."""

    message: Annotated[str, Form()] = ""
    upload_id: Annotated[str | None, Absent] = None
    file: Annotated[UploadFile | None, File(description="At most 20 MB.")] = None


@router.post("/send", responses=_FAILURES, response_model_exclude_none=True)
async def send(fields: ScreenRequest, call: Call) -> ScreenResponse:
    """Answer a message."""
    return await _answered(call, _wish(call, fields, fields.message))


@router.post("/send-with-file", responses=_FAILURES, response_model_exclude_none=True)
async def send_with_file(
    fields: Annotated[FileRequest, Form(media_type="multipart/form-data")], call: Call
) -> ScreenResponse:
    """Answer a message that comes with a file; the file alone will do."""
    assistant = call.assistant
    attachments = await attached(call, [fields.upload_id] if fields.upload_id else [])
    if fields.file is not None:
        attach = Attach(assistant.blobs, assistant.clock)
        attachments += (await attach(call.user, fields.file.filename, await fields.file.read()),)
    text = asked_words(fields.message, attachments, language_of(call.request.scope))
    wish = _wish(call, fields, text)
    return await _answered(call, replace(wish, attachments=attachments))


def _wish(call: TurnCall, fields: ScreenRequest, text: str) -> TurnRequest:
    shared = TurnFields.model_validate(fields.model_dump(include=set(ScreenRequest.model_fields) - {"message"}))
    return turn_request(call, shared, call.assistant.settings.screen, text)


async def _answered(call: TurnCall, wish: TurnRequest) -> ScreenResponse:
    assistant = call.assistant
    turn = await assistant.turns.take(wish)
    try:
        reply = await reply_of(call.request, turn, revoicing(assistant))
    except (ProviderFailed, NotConfigured) as error:
        return ScreenResponse(conversation_id=turn.conversation_id, message=_warning(assistant, wish, error))
    found = await assistant.conversations.find_turn(wish.user, turn.turn_id)
    number = found[1].answer_number if found else _number(assistant)
    message = ScreenMessage(
        id=number,
        content=reply.done.response,
        tool_calls=tool_calls(found[1]) if found else [],
        created_at=found[1].answered_at if found else assistant.clock.now(),
    )
    return ScreenResponse(conversation_id=turn.conversation_id, message=message)


def _warning(assistant: Assistant, wish: TurnRequest, error: TertuliaError) -> ScreenMessage:
    """Tell of a failing model in the conversation itself, in the language of the question."""
    language = assistant.languages.detect(wish.text) or ENGLISH
    is_unset = isinstance(error, NotConfigured | ModelKey)
    return ScreenMessage(
        id=_number(assistant),
        content=f"{phrase('warning', language)}: {error.message}",
        tool_calls=[],
        created_at=assistant.clock.now(),
        error_type="llm_not_configured" if is_unset else "llm_error",
    )


def _number(assistant: Assistant) -> int:
    return turn_number(assistant.clock.now(), 0) + NUMBERS_A_TURN - 1
