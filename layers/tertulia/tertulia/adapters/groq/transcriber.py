"""Groq's Whisper as a Transcriber."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING

from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.model_failures import ModelChoice
from tertulia.domain.audio import HearingOutcome, Transcript, Utterance
from tertulia.domain.errors import NoAudio, ProviderFailed
from tertulia.domain.hearing import MOST_NO_SPEECH, Segment, heard_words
from tertulia.domain.languages import closest_language
from tertulia.domain.prompts import Json

if TYPE_CHECKING:
    from groq import AsyncGroq

MOST_HINT_CHARACTERS = 896
SECONDS = 60.0

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "english": "en-US",
        "chinese": "zh-CN",
        "japanese": "ja",
        "korean": "ko",
        "german": "de",
        "spanish": "es-ES",
        "french": "fr",
        "portuguese": "pt-BR",
        "russian": "ru",
    }
)

_SURE_OF_WORDS = -0.5
_SURE_OF_SILENCE = 0.9


@dataclass(frozen=True, kw_only=True)
class HearingHints:
    """What helps to hear: words to expect, and the language where none is asked for."""

    words: str = ""
    language: str | None = None


class GroqTranscriber:
    """Writes down speech with Whisper at Groq."""

    def __init__(self, connection: GroqConnection, model: str, hints: HearingHints | None = None) -> None:
        self._connection = connection
        self._choice = ModelChoice(name=model, setting="GROQ_STT_MODEL")
        self._hints = hints or HearingHints()

    @property
    def name(self) -> str:
        """The model's name, for receipts."""
        return self._choice.name

    async def prepare(self) -> None:
        """Import what the first turn needs."""
        await self._connection.prepare()

    async def transcribe(self, utterance: Utterance, language: str | None) -> Transcript:
        """Write down what is said; what the model itself takes for no speech is silence."""
        wished = language or self._hints.language

        async def ask(groq: "AsyncGroq") -> Transcript:
            optional = {"language": _primary(wished), "prompt": self._hints.words[-MOST_HINT_CHARACTERS:]}
            answer = await groq.audio.transcriptions.with_raw_response.create(
                # The vendor judges by the name's ending; the client's own name and type do not matter.
                file=(f"audio.{utterance.container}", utterance.data),
                model=self.name,
                response_format="verbose_json",
                temperature=0.0,
                extra_body={name: value for name, value in optional.items() if value},
            )
            return _transcript(await answer.json(), utterance, wished)

        try:
            return await self._connection.call(self._choice, ask, SECONDS)
        except ProviderFailed as failure:
            if not utterance.is_opened and _is_refusal(failure):
                raise NoAudio(
                    "The recording is damaged or empty. Record again, for at least half a second."
                ) from failure
            raise


def _is_refusal(failure: ProviderFailed) -> bool:
    """Whether the vendor refused the request itself: of a file that nobody had opened, it is the file."""
    return type(failure) is ProviderFailed and getattr(failure.__cause__, "status_code", None) == HTTPStatus.BAD_REQUEST


def _transcript(answer: Json, utterance: Utterance, wished: str | None) -> Transcript:
    segments = [_segment(segment) for segment in answer.get("segments") or []]
    is_doubted = any(segment.no_speech_probability >= MOST_NO_SPEECH for segment in segments)
    text = heard_words(segments) if is_doubted else str(answer.get("text") or "").strip()
    return Transcript(
        text=text,
        language=_language(str(answer.get("language") or ""), wished),
        seconds=float(answer.get("duration") or utterance.sound.seconds),
        outcome=HearingOutcome.SPEECH if text else HearingOutcome.SILENCE,
    )


def _segment(data: Mapping[str, Json]) -> Segment:
    """Read a segment; the large model doubts real speech too, so words it is sure of count for more than mild doubt."""
    doubt = float(data.get("no_speech_prob") or 0.0)
    likelihood = data.get("avg_logprob")
    if likelihood is not None and likelihood >= _SURE_OF_WORDS and doubt < _SURE_OF_SILENCE:
        doubt = 0.0
    return Segment(text=str(data.get("text") or ""), no_speech_probability=doubt)


def _primary(tag: str | None) -> str:
    return (tag or "").replace("_", "-").partition("-")[0].lower()


def _language(heard: str, wished: str | None) -> str:
    """Map Whisper's name or code of a language to ours; the wished region, such as zh-TW, stays."""
    tag = _NAMES.get(heard.strip().lower()) or closest_language(heard)
    if wished and (not heard or _primary(tag) == _primary(wished)):
        return closest_language(wished)
    return tag
