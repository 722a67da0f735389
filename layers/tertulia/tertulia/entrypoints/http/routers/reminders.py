"""The user's reminders."""

import re
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body, Path, Response
from pydantic import AfterValidator, BaseModel, Field

from tertulia.domain.errors import NotFound
from tertulia.domain.reminder_times import MOST_WORDS
from tertulia.domain.reminders import (
    MOST_TEXT_CHARACTERS,
    USUAL_SNOOZE_MINUTES,
    Reminder,
    ReminderState,
    Repeat,
    Wanted,
    known_zone,
)
from tertulia.entrypoints.http.context import Parts, Wished
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.fields import Absent, LanguageField, TimezoneField, Words
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/reminders", tags=["reminders"])

MOST_SNOOZE_MINUTES = 60 * 24 * 30
WRITING = problems(401, 409, 503)
_ID = re.compile(r"[0-9a-f]{16}")


def _id_in_path(text: str) -> str:
    if not _ID.fullmatch(text):
        raise NotFound
    return text


ReminderInPath = Annotated[str, Path(alias="id", max_length=64), AfterValidator(_id_in_path)]
When = Annotated[
    Words,
    Field(
        min_length=1,
        max_length=MOST_WORDS,
        description="A time in words, in the language of the request, or as ISO 8601; without a zone it is the user's.",
        examples=["tomorrow at 9", "2030-06-01T09:00"],
    ),
]


class ReminderRequest(BaseModel):
    """A reminder to be set."""

    text: Annotated[Words, Field(min_length=1, max_length=MOST_TEXT_CHARACTERS, examples=["call Ben"])]
    when: When
    timezone: TimezoneField = None
    language: LanguageField = None


class SnoozeRequest(BaseModel):
    """Until when a reminder is put off; without either, for ten minutes."""

    minutes: Annotated[Annotated[int, Field(ge=1, le=MOST_SNOOZE_MINUTES)] | None, Absent] = None
    when: Annotated[When | None, Absent] = None
    timezone: TimezoneField = None
    language: LanguageField = None


class ReminderView(BaseModel):
    """A reminder as clients see it."""

    id: str
    text: str
    due_at: datetime | None
    """When it rings next, in its own zone; null once nothing is to come."""
    timezone: str
    repeat: Repeat
    state: ReminderState
    rang_at: datetime | None
    """For which time it rang last."""
    missed: bool
    """Whether it rang late, because nobody was there to ring it."""
    created_at: datetime
    conversation_id: str | None


class ReminderList(BaseModel):
    """The reminders that ring or will, the next one first."""

    reminders: list[ReminderView]


@router.get("", responses=READING)
async def reminders(assistant: Parts, user: User) -> ReminderList:
    """List the reminders that ring or will."""
    return ReminderList(reminders=[_view(each) for each in await assistant.reminders.open(user)])


@router.post("", status_code=201, responses=WRITING)
async def add(fields: ReminderRequest, assistant: Parts, user: User, wished: Wished) -> ReminderView:
    """Set a reminder; where its time has to be asked for, 422 says what to ask."""
    wanted = Wanted(
        text=fields.text,
        when=fields.when,
        timezone=known_zone(fields.timezone or wished.timezone),
        language=fields.language or wished.language or "en-US",
    )
    return _view(await assistant.reminders.add(user, wanted))


@router.delete("/{id}", status_code=204, responses=WRITING, response_class=Response)
async def cancel(reminder_id: ReminderInPath, assistant: Parts, user: User) -> Response:
    """Have a reminder never ring again."""
    await assistant.reminders.cancel(user, reminder_id)
    return Response(status_code=204)


@router.post("/{id}/snooze", responses=WRITING)
async def snooze(
    reminder_id: ReminderInPath,
    assistant: Parts,
    user: User,
    wished: Wished,
    fields: Annotated[SnoozeRequest | None, Body()] = None,
) -> ReminderView:
    """Put a reminder off."""
    fields = fields or SnoozeRequest()
    wanted = Wanted(
        text="",
        when=fields.when or f"in {fields.minutes or USUAL_SNOOZE_MINUTES} minutes",
        timezone=known_zone(fields.timezone or wished.timezone),
        language=fields.language or wished.language or "en-US",
    )
    return _view(await assistant.reminders.snooze_for(user, reminder_id, wanted))


@router.post("/{id}/acknowledge", responses=WRITING)
async def acknowledge(reminder_id: ReminderInPath, assistant: Parts, user: User) -> ReminderView:
    """Take note that the user knows: it is not told any more, and rings again only if it repeats."""
    return _view(await assistant.reminders.acknowledge(user, reminder_id))


def _view(reminder: Reminder) -> ReminderView:
    return ReminderView(
        id=reminder.id,
        text=reminder.text,
        due_at=reminder.due_in_zone,
        timezone=reminder.timezone,
        repeat=reminder.repeat,
        state=reminder.state,
        rang_at=reminder.rang_at,
        missed=reminder.was_late,
        created_at=reminder.created_at,
        conversation_id=reminder.conversation_id,
    )
