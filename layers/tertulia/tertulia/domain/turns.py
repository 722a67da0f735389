"""A turn: what a person asked, how it was answered, and what of both is kept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from tertulia.domain.accounts import UserSettings
from tertulia.domain.errors import InvalidRequest, InvalidValue, TooLarge
from tertulia.domain.prompts import Json
from tertulia.domain.replies import Done, Failed, Numbered, Receipt, ReplyEvent, Token
from tertulia.domain.summaries import ActionItem, Digest
from tertulia.domain.surfaces import SPOKEN, Route, Style, Surface

NUMBERS_A_TURN = 16
"""How many message numbers a turn may use: its question, its tool rows, its answer."""

_CONVERSATION_ID = re.compile(r"[a-f0-9]{1,64}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file that came with a question, and what of it a model can read."""

    name: str
    media_type: str
    size: int
    text: str = ""
    """Its content as text, cut to what a model is shown; empty when it holds no words."""
    key: str = ""
    """Where the file itself is kept."""


@dataclass(frozen=True, kw_only=True)
class TurnRequest:
    """One turn as a surface asks for it: typed words, or a recording, for one user."""

    user: str
    turn_id: str
    text: str = ""
    audio: bytes | None = None
    surface: Surface = SPOKEN
    conversation_id: str | None = None
    client_message_id: str | None = None
    language: str | None = None
    style: Style | None = None
    """How to write the answer; unset, the surface decides."""
    scenario: str | None = None
    """One of `domain.scenarios`."""
    attachments: tuple[Attachment, ...] = ()
    device_id: str | None = None
    timezone: str | None = None
    speak: bool = False
    voice: str | None = None

    @property
    def answer_style(self) -> Style:
        """The style wished for, else the surface's."""
        return self.style or self.surface.style

    def wishing(self, settings: UserSettings) -> "TurnRequest":
        """Return the request with what its user wishes for where it names nothing."""
        return replace(
            self,
            language=self.language or settings.language,
            style=self.style or settings.style,
            timezone=self.timezone or settings.timezone,
            voice=self.voice or settings.voice,
        )


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """One call of a tool in a turn, with its result: they are kept, and travel, together."""

    call_id: str
    name: str
    arguments: Mapping[str, Json]
    result: str
    ok: bool = True
    ms: int = 0


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A turn as it is kept. `number` orders turns and is the number of its first message, below 2^53."""

    id: str
    number: int
    text: str
    answer: str
    language: str
    created_at: datetime
    answered_at: datetime
    route: Route | None = None
    tools: tuple[ToolUse, ...] = ()
    receipt: Receipt = field(default_factory=Receipt)
    memories_used: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    surface: str = SPOKEN.name
    device_id: str | None = None
    interrupted: bool = False
    error: str | None = None
    """The code of the failure that ended it; a failed turn may be stored again by its retry."""

    @property
    def is_whole(self) -> bool:
        """Whether it has an answer that a later prompt may show."""
        return bool(self.answer) and self.error is None

    @property
    def answer_number(self) -> int:
        """The message number of the answer."""
        return self.number + NUMBERS_A_TURN - 1


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A thread of turns of one user. Only a store's `open` and `get` hand one out, after checking its user."""

    id: str
    user: str
    created_at: datetime
    updated_at: datetime
    title: str = ""
    is_titled: bool = False
    """Whether its user gave it the title: then no summary changes it."""
    overview: str = ""
    device_id: str | None = None
    message_count: int = 0
    last_message: str = ""
    action_items: tuple[ActionItem, ...] = ()
    summarized_number: int = -1
    """The number of the last message that its summary knows."""
    summarized_at: datetime | None = None

    @property
    def digest(self) -> Digest:
        """What it was about so far; empty before its first summary."""
        if self.summarized_at is None:
            return Digest(title="", overview="")
        return Digest(title=self.title, overview=self.overview, action_items=self.action_items)


@dataclass(frozen=True)
class Page[Item]:
    """A part of a list, and the cursor of the next part, None at the end."""

    items: tuple[Item, ...]
    cursor: str | None = None
    total: int | None = None


def events_of(turn: Turn, conversation_id: str) -> list[Numbered]:
    """Tell a stored turn again as events, its answer in one piece."""
    ending: ReplyEvent = (
        Failed(code=turn.error, message="")
        if turn.error
        else Done(
            response=turn.answer,
            conversation_id=conversation_id,
            turn_id=turn.id,
            route=turn.route,
            receipt=turn.receipt,
            interrupted=turn.interrupted,
        )
    )
    events = [Token(text=turn.answer), ending] if turn.answer else [ending]
    return [Numbered(number, event) for number, event in enumerate(events, start=1)]


def conversation_id_from(text: str | None) -> str | None:
    """Read a client's conversation id: absent is None, a UUID its 32 digits; else it must be 1 to 64 hex digits."""
    if not text:
        return None
    if _UUID.fullmatch(text):
        return text.replace("-", "").lower()
    if not _CONVERSATION_ID.fullmatch(text):
        raise InvalidValue("A conversation_id is 1 to 64 lower-case hex digits, as the server made it.")
    return text


def turn_number(at: datetime, slot: int) -> int:
    """Return a number that grows with time and leaves room for the turn's messages; below 2^53 until 2039."""
    return int(at.timestamp() * 1000) * 4096 + (slot % 256) * NUMBERS_A_TURN


def title_from(text: str) -> str:
    """Title a conversation until it is summarized: with the first 50 characters of its first message."""
    return " ".join(text.split())[:50]


def checked_words(text: str, limit: int) -> str:
    """Return typed words as they stand, or say what is wrong with them."""
    if not text.strip():
        raise InvalidRequest("The text is blank. Write or say something.")
    if len(text) > limit:
        raise TooLarge(f"The text has {len(text):,} characters; at most {limit:,} are read at once. Send it as a file.")
    if "\x00" in text:
        raise InvalidValue("The text holds a NUL character.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest("The text is not valid Unicode: it holds half of a surrogate pair.") from error
    return text
