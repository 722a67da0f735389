"""How the command line reaches the assistant: through the server of its data folder, else in its own process."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
from httpx_sse import aconnect_sse
from ulid import ULID

from tertulia.assistant import Assistant
from tertulia.domain.audio import HearingOutcome, Transcript
from tertulia.domain.errors import Starting, TertuliaError, Unavailable
from tertulia.domain.replies import ReplyEvent
from tertulia.domain.surfaces import Style
from tertulia.domain.turns import TurnRequest, conversation_id_from
from tertulia.entrypoints.running_server import running_server
from tertulia.entrypoints.zone_here import zone_here
from tertulia.settings import Settings
from tertulia.usecases.speak import SpeechRequest
from tertulia.wire import event_from_json

SECONDS_TO_ANSWER = 180.0
SECONDS_BETWEEN_LOOKS = 0.25
LOOKS_WHILE_STARTING = 240
OK = 200
UNAVAILABLE = 503
LAST_EVENTS = frozenset({"done", "error"})


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One turn as it is typed or recorded at the command line."""

    text: str = ""
    audio: bytes | None = None
    conversation_id: str | None = None
    language: str | None = None
    style: Style | None = None
    speak: bool = False


@dataclass(frozen=True, kw_only=True)
class Say:
    """A text to be spoken."""

    text: str
    voice: str | None = None
    language: str | None = None


class Reach(Protocol):
    """The assistant, wherever it runs."""

    def turn(self, ask: Ask) -> AsyncGenerator[ReplyEvent]:
        """Take a turn."""
        ...

    async def say(self, say: Say) -> bytes:
        """Speak a text; return a WAV file."""
        ...

    async def transcribe(self, audio: bytes, language: str | None) -> Transcript:
        """Write down a recording."""
        ...


class InProcess:
    """The assistant in this process."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def turn(self, ask: Ask) -> AsyncGenerator[ReplyEvent]:
        """Take a turn here."""
        request = TurnRequest(
            user=self._assistant.settings.user_id,
            turn_id=str(ULID()),
            text=ask.text,
            audio=ask.audio,
            surface=self._assistant.settings.spoken,
            conversation_id=conversation_id_from(ask.conversation_id),
            language=ask.language,
            style=ask.style,
            timezone=zone_here(),
            speak=ask.speak,
        )
        if not self._assistant.is_in_the_cloud:
            # Without a server nothing else rings them.
            await self._assistant.reminder_timer.ring_due()
        taken = await self._assistant.turns.take(request)
        try:
            async for numbered in taken.events():
                yield numbered.event
        finally:
            taken.leave()

    async def say(self, say: Say) -> bytes:
        """Speak here."""
        language = say.language or self._assistant.languages.detect(say.text) or "en-US"
        sound = await self._assistant.speak.whole(SpeechRequest(text=say.text, voice=say.voice, language=language))
        return sound.as_wav()

    async def transcribe(self, audio: bytes, language: str | None) -> Transcript:
        """Write down here."""
        return await self._assistant.hear(audio, language)


class OverHttp:
    """The assistant in the running server."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def turn(self, ask: Ask) -> AsyncGenerator[ReplyEvent]:
        """Take a turn there."""
        fields = {
            "conversation_id": ask.conversation_id,
            "language": ask.language,
            "style": ask.style and ask.style.value,
            "timezone": zone_here(),
        }
        fields = {name: value for name, value in fields.items() if value}
        sent: dict[str, Any] = (
            {"url": "/api/chat/stream", "json": {"text": ask.text, "speak": ask.speak, **fields}}
            if ask.audio is None
            else {"url": "/api/voice", "data": fields, "files": {"audio": ("recording", ask.audio)}}
        )
        async with aconnect_sse(self._client, "POST", **sent) as source:
            if source.response.status_code != OK:
                await source.response.aread()
                raise _failure(source.response)
            async for event in source.aiter_sse():
                # A ping after the first event comes as an event without data.
                if event.data:
                    yield event_from_json({"type": event.event, **event.json()})
                if event.event in LAST_EVENTS:
                    return
        raise Unavailable("The server ended the answer before it was whole.")

    async def say(self, say: Say) -> bytes:
        """Speak there."""
        fields = {"text": say.text, "voice": say.voice, "language": say.language}
        answer = await self._client.post("/api/tts", json=fields)
        if answer.status_code != OK:
            raise _failure(answer)
        return answer.content

    async def transcribe(self, audio: bytes, language: str | None) -> Transcript:
        """Write down there."""
        fields = {"language": language} if language else {}
        answer = await self._client.post("/api/stt", data=fields, files={"audio": ("recording", audio)})
        if answer.status_code != OK:
            raise _failure(answer)
        heard = answer.json()
        return Transcript(
            text=heard["text"],
            language=heard["language"],
            seconds=heard["duration_seconds"],
            outcome=HearingOutcome(heard["outcome"]),
        )


@asynccontextmanager
async def reach(settings: Settings, make: Callable[[Settings], Assistant]) -> AsyncIterator[Reach]:
    """Open the way to the assistant, and close it cleanly."""
    server = running_server(settings.data_dir)
    if server:
        async with _client(server.address, settings) as client:
            if await _answers(client):
                try:
                    yield OverHttp(client)
                except httpx.TimeoutException as error:
                    raise Unavailable(f"The server at {server.address} did not answer in time.") from error
                except httpx.HTTPError as error:
                    raise Unavailable(f"The connection to the server at {server.address} broke.") from error
                return
    assistant = make(settings)
    try:
        yield InProcess(assistant)
        await _follow_up(assistant)
    finally:
        await assistant.close()


async def _follow_up(assistant: Assistant) -> None:
    """Follow up the turns taken here, since no other process may come; what fails or is not due yet stays queued."""
    if "turns" in vars(assistant) and not assistant.is_in_the_cloud:
        with suppress(TertuliaError):
            await assistant.follow_up_runner.drain()


def _client(address: str, settings: Settings) -> httpx.AsyncClient:
    token = settings.api_token
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    # A proxy of the environment must not see what stays on this machine.
    return httpx.AsyncClient(base_url=address, headers=headers, timeout=SECONDS_TO_ANSWER, trust_env=False)


async def _answers(client: httpx.AsyncClient) -> bool:
    """Wait while the server starts, rather than load its models a second time."""
    try:
        for _ in range(LOOKS_WHILE_STARTING):
            if (await client.get("/api/health", timeout=5)).status_code != UNAVAILABLE:
                return True
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    except httpx.TransportError:
        return False
    raise Starting


def _failure(answer: httpx.Response) -> TertuliaError:
    try:
        return TertuliaError(str(answer.json()["detail"]))
    except (ValueError, KeyError, TypeError):
        return TertuliaError(f"The server answered with status {answer.status_code}.")
