"""Devices: who they are, what they have said, and how they are spoken to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tertulia.domain.devices import Device, UtteranceStart
from tertulia.domain.prompts import Json


class DeviceRegistry(Protocol):
    """Which device is whose."""

    async def add(self, device: Device) -> None:
        """Keep a new device; raises Conflict for an id that is taken."""
        ...

    async def find(self, device_id: str) -> Device | None:
        """Return a device, revoked or not."""
        ...

    async def of(self, user: str) -> list[Device]:
        """Return the user's devices that are not revoked, newest first."""
        ...

    async def wish(self, device_id: str, wishes: Mapping[str, Json]) -> None:
        """Keep what a device asked for when it connected."""
        ...

    async def revoke(self, user: str, device_id: str, at: datetime) -> None:
        """Hear the device no more, or raise NotFound for one that is not the user's."""
        ...


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A message of a device that was accepted."""

    device_id: str
    id: str
    payload: str
    received_at: datetime
    turn_id: str = ""
    """The turn that it starts."""


class DeviceInbox(Protocol):
    """Messages of devices, kept for a day: what was accepted is durable, and comes once."""

    async def accept(self, message: Kept) -> Kept:
        """Keep the message and return it, or return the one that came first under its id."""
        ...

    async def find(self, device_id: str, message_id: str) -> Kept | None:
        """Return a message that was accepted."""
        ...

    async def expect(self, device_id: str, start: UtteranceStart, at: datetime) -> None:
        """Keep what was said of an utterance when it began."""
        ...

    async def expected(self, device_id: str, utterance: str) -> UtteranceStart | None:
        """Return what was said of an utterance when it began."""
        ...


class UtteranceSlices(Protocol):
    """Slices of recordings, as they came; each is kept for a day at most."""

    async def put(self, device_id: str, utterance: str, number: int, data: bytes) -> None:
        """Keep a slice, as a broker of ours does; in the cloud a rule puts them down."""
        ...

    async def numbers(self, device_id: str, utterance: str) -> list[int]:
        """Return which slices are there, in order."""
        ...

    async def joined(self, device_id: str, utterance: str, slices: int) -> bytes:
        """Return the first slices, joined in order; raises NotFound when one is missing."""
        ...

    async def remove(self, device_id: str, utterance: str) -> None:
        """Delete the slices of an utterance."""
        ...


class DeviceLink(Protocol):
    """How messages reach a device; knows nothing of speech."""

    async def send(self, device_id: str, message: Mapping[str, Json]) -> None:
        """Send one message; raises Unavailable."""
        ...

    async def send_speech(self, device_id: str, turn_id: str, slice_number: int, data: bytes) -> None:
        """Send one slice of speech."""
        ...
