"""The fields that requests share, each with its limits; absent means absent, null or empty."""

import re
from collections.abc import Callable
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import Depends, Header, Path, Query
from pydantic import AfterValidator, BeforeValidator, Field

from tertulia.domain.errors import InvalidValue, NotFound
from tertulia.domain.turns import conversation_id_from

MOST_NUMBER = 2**53
_LANGUAGE = r"^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8}){0,4}$"
_TURN_ID = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")

Absent = BeforeValidator(lambda value: None if value == "" else value)


def _is_printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("holds characters that cannot be printed")
    return text


def _is_whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("holds half of a surrogate pair") from error
    return text


def _is_timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("is not an IANA time zone, such as Europe/Berlin") from error
    return name


def _unless_absent(check: Callable[[str], str]) -> AfterValidator:
    return AfterValidator(lambda text: None if text is None else check(text))


def _no_skill(_: str) -> str:
    # Ignoring it would answer as if the skill had been used.
    raise InvalidValue("There is no skill of that name.")


def _in_a_path(text: str) -> str:
    """Take a malformed id in a path for one that is not there."""
    try:
        return conversation_id_from(text) or ""
    except InvalidValue as error:
        raise NotFound from error


def _turn_in_a_path(text: str) -> str:
    if not _TURN_ID.fullmatch(text.lower()):
        raise NotFound
    return text.lower()


ConversationIdField = Annotated[
    str | None,
    Absent,
    AfterValidator(conversation_id_from),
    Field(
        description="A conversation of the user's: 1 to 64 lower-case hex digits, as the server made it, or a UUID."
        " Absent begins a new one.",
        examples=["9f2c4e6a8b0d1f35"],
    ),
]
Label = Annotated[Annotated[str, Field(max_length=128), AfterValidator(_is_printable)] | None, Absent]
"""A short name that a client makes up: a key, a device."""
ScenarioField = Annotated[Label, Field(description="One of those that /api/scenarios lists.", examples=["learning"])]
SkillField = Annotated[Label, _unless_absent(_no_skill), Field(description="No skills exist yet; leave it out.")]
KeyField = Annotated[Label, Field(description="Makes a repeated request the same turn, for 24 hours.")]
LanguageField = Annotated[
    Annotated[str, Field(pattern=_LANGUAGE)] | None, Absent, Field(description="BCP 47", examples=["en-US", "pt-BR"])
]
TimezoneField = Annotated[
    Annotated[str, Field(max_length=64)] | None,
    Absent,
    _unless_absent(_is_timezone),
    Field(description="IANA", examples=["Europe/Berlin"]),
]
Words = Annotated[str, AfterValidator(_is_whole)]

ConversationInPath = Annotated[str, Path(alias="id", max_length=256), AfterValidator(_in_a_path)]
TurnInPath = Annotated[str, Path(alias="turn_id", max_length=64), AfterValidator(_turn_in_a_path)]
IdempotencyKey = Annotated[Label, Header(alias="Idempotency-Key", description="The same as client_message_id.")]
LastEventId = Annotated[Annotated[int, Field(ge=0, le=MOST_NUMBER)] | None, Absent, Header(alias="Last-Event-ID")]
After = Annotated[
    Annotated[int, Field(ge=0, le=MOST_NUMBER)] | None,
    Absent,
    Query(description="The same as Last-Event-ID, for clients that cannot send headers."),
]


def _place(last: LastEventId = None, after: After = None) -> int | None:
    return after if last is None else last


Place = Annotated[int | None, Depends(_place)]
"""The number of the last event a client has."""
