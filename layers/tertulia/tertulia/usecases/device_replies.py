"""The replies of a turn as a device gets them: small messages, speech in slices, tokens only where they are wanted."""

import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from itertools import batched

from ulid import ULID

from tertulia.domain.audio import wav_rate
from tertulia.domain.devices import MESSAGE_BYTES, SPEECH_BYTES
from tertulia.domain.prompts import Json
from tertulia.domain.replies import Numbered, Spoke, Token
from tertulia.ports import Clock
from tertulia.ports.devices import DeviceLink
from tertulia.wire import downlink_to_json, event_for_client

SECONDS_BETWEEN_TOKENS = 0.25
CUT = " […]"


@dataclass(frozen=True, kw_only=True)
class Downlink:
    """The way down to one device."""

    link: DeviceLink
    clock: Clock
    device_id: str

    async def send(self, kind: str, **fields: Json) -> None:
        """Send a message of this kind; a text too long for a broker is cut, and says so."""
        envelope = {"type": kind, "id": str(ULID()).lower(), "at": self.clock.now().isoformat()}
        await self.link.send(self.device_id, fitting({**envelope, **fields}))


@dataclass(kw_only=True)
class DeviceReplies:
    """Passes the events of one turn on to a device."""

    down: Downlink
    turn_id: str
    wants_tokens: bool
    _tokens: list[str] = field(default_factory=list)
    _sent_at: float = 0.0
    _slices: int = 0

    async def send(self, events: AsyncIterator[Numbered]) -> None:
        """Send every event, to the one outcome."""
        async for numbered in events:
            event = numbered.event
            if isinstance(event, Token):
                await self._add(event)
                continue
            await self._flush()
            if isinstance(event, Spoke):
                await self._say(event)
            else:
                await self.down.send(event.type, turn=self.turn_id, **event_for_client(event))

    async def _add(self, token: Token) -> None:
        if self.wants_tokens:
            self._tokens.append(token.text)
            if time.monotonic() - self._sent_at >= SECONDS_BETWEEN_TOKENS:
                await self._flush()

    async def _flush(self) -> None:
        if self._tokens:
            text, self._tokens = "".join(self._tokens), []
            self._sent_at = time.monotonic()
            await self.down.send("token", turn=self.turn_id, text=text)

    async def _say(self, spoke: Spoke) -> None:
        slices = [bytes(part) for part in batched(spoke.audio, SPEECH_BYTES, strict=False)]
        if not slices:
            return
        first, self._slices = self._slices, self._slices + len(slices)
        await self.down.send(
            "speech",
            turn=self.turn_id,
            seq=spoke.seq,
            text=spoke.text,
            format=spoke.format,
            sample_rate=wav_rate(spoke.audio),
            duration_ms=spoke.duration_ms,
            first=first,
            slices=len(slices),
            bytes=len(spoke.audio),
        )
        for number, data in enumerate(slices, start=first):
            await self.down.link.send_speech(self.down.device_id, self.turn_id, number, data)


def fitting(message: Mapping[str, Json]) -> dict[str, Json]:
    """Cut the longest text of a message that a broker would refuse, by the bytes it travels as."""
    if _size(message) <= MESSAGE_BYTES:
        return dict(message)
    longest = max((name for name in message if isinstance(message[name], str)), key=lambda name: len(message[name]))

    def cut(characters: int) -> dict[str, Json]:
        return {**message, longest: message[longest][:characters] + CUT, "cut": True}

    # What a character takes depends on how JSON writes it, so the length is looked for, not computed.
    lengths = range(len(message[longest]))
    return cut(max(0, bisect_right(lengths, MESSAGE_BYTES, key=lambda characters: _size(cut(characters))) - 1))


def _size(message: Mapping[str, Json]) -> int:
    return len(downlink_to_json(message))
