"""Where devices are heard: each message is checked, kept where it matters, and answered once."""

import logging
from dataclasses import dataclass

from ulid import ULID

from tertulia.domain.devices import IS_ACCEPTED, Device, Uplink, UtteranceEnd
from tertulia.domain.errors import InProgress, RateLimited, TertuliaError
from tertulia.ports import Clock
from tertulia.ports.devices import DeviceLink, Kept
from tertulia.usecases.device_answers import DeviceAnswers, DeviceCall
from tertulia.usecases.device_replies import Downlink
from tertulia.wire import BadMessage, uplink_from_json

logger = logging.getLogger(__name__)

SECONDS_FOR_SLICES = 0.5
"""Slices travel beside their end, and may come a little later."""


@dataclass(frozen=True, kw_only=True)
class DeviceDesk:
    """Takes in what devices say; one call for each message, whatever is delivered twice."""

    answers: DeviceAnswers
    link: DeviceLink
    clock: Clock

    async def receive(self, device_id: str, payload: bytes) -> None:
        """Take one message in and answer it; what an unknown or revoked device sends is dropped."""
        device = await self.answers.devices.find(device_id)
        if device is None or device.revoked_at is not None:
            logger.warning("a message of an unknown or revoked device was dropped")
            return
        down = Downlink(link=self.link, clock=self.clock, device_id=device.id)
        try:
            uplink = uplink_from_json(payload)
        except BadMessage as error:
            logger.warning("a device sent what is no message of the protocol")
            await down.send("error", code="bad_message", ref=error.ref)
            return
        try:
            await self._take_in(device, uplink, payload, down)
        except InProgress:
            # Whoever called tries again later: the device gets one outcome, the turn's own.
            raise
        except RateLimited as error:
            await down.send("error", code="busy", message=error.message, retry_after=error.retry_after, ref=uplink.id)
        except TertuliaError as error:
            await down.send("error", code=error.code, message=error.message, ref=uplink.id)

    async def _take_in(self, device: Device, uplink: Uplink, payload: bytes, down: Downlink) -> None:
        if uplink.is_stale(self.clock.now()):
            await down.send("error", code="stale", ref=uplink.id)
            return
        said, inbox = uplink.said, self.answers.inbox
        own = Kept(
            device_id=device.id,
            id=uplink.id,
            payload=payload.decode(),
            received_at=self.clock.now(),
            turn_id=str(ULID()).lower(),
        )
        kept = await inbox.find(device.id, uplink.id) if isinstance(said, IS_ACCEPTED) else own
        if kept is None:
            if isinstance(said, UtteranceEnd) and not await self._is_whole(device, said, down):
                # Not accepted, it is sent again, by then with the slices that are missing.
                return
            kept = await inbox.accept(own)
        if isinstance(said, IS_ACCEPTED):
            await down.send("accepted", ref=uplink.id)
        await self.answers(DeviceCall(device=device, said=said, kept=kept, is_first=kept == own, down=down))

    async def _is_whole(self, device: Device, said: UtteranceEnd, down: Downlink) -> bool:
        missing = await self._missing(device, said)
        if missing:
            await self.clock.sleep(SECONDS_FOR_SLICES)
            missing = await self._missing(device, said)
        if missing:
            await down.send("missing", utterance=said.utterance, slices=missing)
        return not missing

    async def _missing(self, device: Device, said: UtteranceEnd) -> list[int]:
        there = set(await self.answers.slices.numbers(device.id, said.utterance))
        return [number for number in range(said.slices) if number not in there]
