"""Devices, and the messages that they send: `docs/protocol.md` tells what each means."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from tertulia.domain.prompts import Json

STALE_AFTER = timedelta(minutes=5)
SPEECH_BYTES = 120 * 1024
"""The most that a slice of speech has: a broker refuses payloads above 128 KiB."""
MESSAGE_BYTES = 128 * 1024

_DEVICE_ID = re.compile(r"[a-z0-9-]{1,64}")
_MESSAGE_ID = re.compile(r"[0-9a-z-]{1,64}")


def is_device_id(text: str) -> bool:
    """Whether a text may name a device, and so stand in a topic: no level, no wildcard, no line end."""
    return _DEVICE_ID.fullmatch(text) is not None


def is_message_id(text: str) -> bool:
    """Whether a text may name a message or an utterance."""
    return _MESSAGE_ID.fullmatch(text) is not None


@dataclass(frozen=True, kw_only=True)
class Device:
    """Something that speaks and hears for one user."""

    id: str
    user: str
    name: str
    kind: str
    created_at: datetime
    revoked_at: datetime | None = None
    wishes: Mapping[str, Json] = field(default_factory=dict)
    """What its last `hello` asked for: `language`, `timezone`, `tokens`, `speaker`."""


@dataclass(frozen=True, kw_only=True)
class Hello:
    """The device has connected."""

    protocol: int
    device: Mapping[str, Json]
    language: str | None = None
    timezone: str | None = None
    tokens: bool = False
    type: Literal["hello"] = "hello"


@dataclass(frozen=True, kw_only=True)
class Prewarm:
    """The button went down, or a wake word was heard: be ready."""

    type: Literal["prewarm"] = "prewarm"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A typed turn."""

    text: str
    conversation_id: str | None = None
    type: Literal["ask"] = "ask"


@dataclass(frozen=True, kw_only=True)
class UtteranceStart:
    """Slices of a recording follow."""

    utterance: str
    format: Literal["opus", "ogg", "wav", "pcm16"]
    sample_rate: int
    channels: int
    conversation_id: str | None = None
    type: Literal["utterance_start"] = "utterance_start"


@dataclass(frozen=True, kw_only=True)
class UtteranceEnd:
    """The recording is whole: the turn starts."""

    utterance: str
    slices: int
    bytes: int
    sha256: str
    type: Literal["utterance_end"] = "utterance_end"


@dataclass(frozen=True, kw_only=True)
class UtteranceCancel:
    """Forget the recording."""

    utterance: str
    type: Literal["utterance_cancel"] = "utterance_cancel"


@dataclass(frozen=True, kw_only=True)
class Interrupt:
    """Somebody spoke or pressed over the answer."""

    turn: str
    played_ms: int = 0
    type: Literal["interrupt"] = "interrupt"


@dataclass(frozen=True, kw_only=True)
class Played:
    """A sentence was played to its end, or to there."""

    turn: str
    seq: int
    ms: int
    type: Literal["played"] = "played"


@dataclass(frozen=True, kw_only=True)
class DeviceEvent:
    """News of the device itself."""

    name: str
    data: Mapping[str, Json] = field(default_factory=dict)
    type: Literal["event"] = "event"


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """The answer to a command."""

    ref: str
    ok: bool
    data: Json = None
    message: str = ""
    type: Literal["command_result"] = "command_result"


type Said = (
    Hello
    | Prewarm
    | Ask
    | UtteranceStart
    | UtteranceEnd
    | UtteranceCancel
    | Interrupt
    | Played
    | DeviceEvent
    | CommandResult
)
"""What a device says."""

STARTS_A_TURN = (Ask, UtteranceEnd)
IS_ACCEPTED = (Ask, UtteranceEnd, Interrupt, CommandResult)
"""What is kept until it is done with, and told to be: the device sends it again until then."""


@dataclass(frozen=True, kw_only=True)
class Uplink:
    """One message with its envelope; the same id again is the same message."""

    id: str
    at: datetime
    said: Said

    def is_stale(self, now: datetime) -> bool:
        """Whether it would start a turn too late; a time in the future counts as now."""
        return isinstance(self.said, STARTS_A_TURN) and now - self.at > STALE_AFTER
