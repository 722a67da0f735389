"""What each kind of message of a device leads to."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ulid import ULID

from tertulia.domain.audio import wav_of
from tertulia.domain.devices import (
    Ask,
    Device,
    Hello,
    Interrupt,
    UtteranceCancel,
    UtteranceEnd,
    UtteranceStart,
)
from tertulia.domain.errors import InvalidValue, NotFound, UnsupportedMedia
from tertulia.domain.replies import Done, Failed, Numbered
from tertulia.domain.turns import TurnRequest, conversation_id_from
from tertulia.ports.devices import DeviceInbox, DeviceRegistry, Kept, UtteranceSlices
from tertulia.usecases.device_replies import DeviceReplies, Downlink
from tertulia.usecases.turn_desk import SECONDS_FOR_A_REPETITION, TurnDesk

PROTOCOL = 1
SESSION_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class DeviceCall:
    """One message that was taken in, and where its answer goes."""

    device: Device
    said: Any
    kept: Kept
    is_first: bool
    """Whether it came for the first time: a repeated one gets the outcome alone."""
    down: Downlink

    def request(self, conversation_id: str | None, *, text: str = "", audio: bytes | None = None) -> TurnRequest:
        """Return the turn that the message asks for: the same one, however often it comes."""
        wishes = self.device.wishes
        return TurnRequest(
            user=self.device.user,
            turn_id=self.kept.turn_id if self.is_first else str(ULID()).lower(),
            text=text,
            audio=audio,
            conversation_id=conversation_id_from(conversation_id),
            client_message_id=f"{self.device.id}:{self.kept.id}",
            language=wishes.get("language"),
            timezone=wishes.get("timezone"),
            device_id=self.device.id,
            speak=bool(wishes.get("speaker", True)),
        )


@dataclass(frozen=True, kw_only=True)
class DeviceAnswers:
    """Does what devices ask for."""

    devices: DeviceRegistry
    inbox: DeviceInbox
    slices: UtteranceSlices
    turns: TurnDesk
    speech_rate: Callable[[], int]
    """Samples a second of what is said to devices, known once there is a voice."""

    async def __call__(self, call: DeviceCall) -> None:
        """Do it; a message that only tells something needs no answer."""
        answers: dict[type, Callable[[DeviceCall], Awaitable[None]]] = {
            Hello: self._welcome,
            Ask: self._ask,
            UtteranceStart: self._listen,
            UtteranceEnd: self._hear,
            UtteranceCancel: self._forget,
            Interrupt: self._interrupt,
        }
        if answer := answers.get(type(call.said)):
            await answer(call)

    async def _welcome(self, call: DeviceCall) -> None:
        said: Hello = call.said
        wishes = {"language": said.language, "timezone": said.timezone, "tokens": said.tokens}
        await self.devices.wish(call.device.id, {**wishes, "speaker": said.device.get("speaker") is not False})
        await call.down.send(
            "welcome",
            protocol=PROTOCOL,
            session_expiry=SESSION_SECONDS,
            speech={"format": "wav", "sample_rate": self.speech_rate()},
            server_time=call.kept.received_at.isoformat(),
        )

    async def _ask(self, call: DeviceCall) -> None:
        said: Ask = call.said
        if not await self._is_answered(call):
            await self._turn(call, call.request(said.conversation_id, text=said.text))

    async def _listen(self, call: DeviceCall) -> None:
        said: UtteranceStart = call.said
        await self.inbox.expect(call.device.id, said, call.kept.received_at)
        await call.down.send("listening", utterance=said.utterance)

    async def _hear(self, call: DeviceCall) -> None:
        said: UtteranceEnd = call.said
        if await self._is_answered(call):
            return
        start = await self.inbox.expected(call.device.id, said.utterance)
        if start is None:
            raise NotFound("This utterance was never begun.")
        data = await self.slices.joined(call.device.id, said.utterance, said.slices)
        if len(data) != said.bytes or hashlib.sha256(data).hexdigest() != said.sha256:
            raise InvalidValue("The recording is not the one that was announced.")
        await self._turn(call, call.request(start.conversation_id, audio=_recording(start, data)))
        await self.slices.remove(call.device.id, said.utterance)

    async def _forget(self, call: DeviceCall) -> None:
        said: UtteranceCancel = call.said
        await self.slices.remove(call.device.id, said.utterance)

    async def _interrupt(self, call: DeviceCall) -> None:
        said: Interrupt = call.said
        with suppress(NotFound):
            await self.turns.stop(call.device.user, said.turn)

    async def _is_answered(self, call: DeviceCall) -> bool:
        """Whether a repeated message's turn is known; its outcome is then told again, once there is one."""
        if call.is_first:
            return False
        events = self.turns.watch(call.device.user, call.kept.turn_id, patience=SECONDS_FOR_A_REPETITION)
        try:
            await self._replies(call, call.kept.turn_id).send(_outcome(events))
        except NotFound:
            return False
        return True

    async def _turn(self, call: DeviceCall, request: TurnRequest) -> None:
        turn = await self.turns.take(request)
        is_ours = turn.turn_id == request.turn_id
        await self._replies(call, turn.turn_id).send(turn.events() if is_ours else _outcome(turn.events()))

    @staticmethod
    def _replies(call: DeviceCall, turn_id: str) -> DeviceReplies:
        return DeviceReplies(down=call.down, turn_id=turn_id, wants_tokens=bool(call.device.wishes.get("tokens")))


async def _outcome(events: AsyncIterator[Numbered]) -> AsyncIterator[Numbered]:
    async for numbered in events:
        if isinstance(numbered.event, Done | Failed):
            yield numbered


def _recording(start: UtteranceStart, data: bytes) -> bytes:
    if start.format == "opus":
        raise UnsupportedMedia("Bare Opus packets are not taken. Send ogg, wav or pcm16.")
    return wav_of(data, start.sample_rate, start.channels) if start.format == "pcm16" else data
