"""Groq's Orpheus as a Synthesizer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.wav import sound_from
from tertulia.adapters.model_failures import ModelChoice
from tertulia.domain.audio import Sound
from tertulia.domain.errors import InvalidValue, NotConfigured

if TYPE_CHECKING:
    from groq import AsyncGroq

ORPHEUS = "canopylabs/orpheus-v1-english"
VOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {ORPHEUS: ("autumn", "diana", "hannah", "austin", "daniel", "troy")}
)
MOST_CHARACTERS = 200
SECONDS = 30.0
_RATE = 24_000


class GroqSynthesizer:
    """Speaks English with Orpheus at Groq."""

    def __init__(self, connection: GroqConnection, model: str = ORPHEUS, voice: str = "autumn") -> None:
        self._connection = connection
        self._choice = ModelChoice(name=model, setting="GROQ_TTS_MODEL")
        self._rate = _RATE
        try:
            self._voice = self._known(voice)
        except InvalidValue as error:
            raise NotConfigured(f"TTS_VOICE: {error.message}") from error

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        return self._choice.name

    @property
    def rate(self) -> int:
        """Samples a second, as the last answer had them."""
        return self._rate

    @property
    def most_characters(self) -> int:
        """The longest text Groq takes at once."""
        return MOST_CHARACTERS

    def speaks(self, language: str) -> bool:
        """Whether the language is English."""
        return language.lower().partition("-")[0] == "en"

    async def prepare(self) -> None:
        """Import what the first turn needs."""
        await self._connection.prepare()

    async def speak(self, text: str, voice: str | None = None) -> Sound:
        """Say a text of at most 200 characters."""
        chosen = self._known(voice) if voice else self._voice

        async def ask(groq: "AsyncGroq") -> Sound:
            answer = await groq.audio.speech.create(input=text, model=self.name, voice=chosen, response_format="wav")
            return sound_from(await answer.read())

        sound = await self._connection.call(self._choice, ask, SECONDS)
        self._rate = sound.rate
        return sound

    def _known(self, voice: str) -> str:
        """Return the voice as Groq writes it; a model we do not know may have any."""
        voices = VOICES.get(self._choice.name)
        wished = voice.strip().lower()
        if voices is None:
            return voice.strip()
        if wished not in voices:
            raise InvalidValue(f"There is no such voice. Choose one of: {', '.join(voices)}.")
        return wished
