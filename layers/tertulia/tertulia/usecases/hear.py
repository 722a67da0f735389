"""Hear: a recording in, what was said out; silence is told before any model is asked."""

from tertulia.domain.audio import HearingOutcome, Transcript, Utterance
from tertulia.domain.errors import NoAudio, TooLarge
from tertulia.domain.hearing import LEAST_SPEECH_SECONDS, is_made_up
from tertulia.domain.languages import closest_language
from tertulia.ports import AudioDecoder, SpeechDetector, Transcriber

MOST_BYTES = 25_000_000
"""Vendors take 25 MB; counted in the smaller megabyte, none refuses what we took."""


class Hear:
    """Turns recordings into transcripts."""

    def __init__(self, decoder: AudioDecoder, detector: SpeechDetector, transcriber: Transcriber) -> None:
        self._decoder = decoder
        self._detector = detector
        self._transcriber = transcriber

    @property
    def model(self) -> str:
        """The name of the model that writes down what is said, for receipts."""
        return self._transcriber.name

    async def __call__(self, data: bytes, language: str | None = None) -> Transcript:
        """Return what is said in the recording; raises NoAudio, TooLarge, UnsupportedMedia and what models raise."""
        if not data:
            raise NoAudio("The recording is empty. Record again, for at least half a second.")
        if len(data) > MOST_BYTES:
            raise TooLarge("The recording is over 25 MB. Send a shorter one, or a compressed format.")
        utterance = await self._decoder.decode(data)
        speech_seconds = await self._speech_seconds(utterance)
        if speech_seconds is not None and speech_seconds < LEAST_SPEECH_SECONDS:
            return _silence(language, utterance.sound.seconds)
        transcript = await self._transcriber.transcribe(utterance, language)
        seconds = utterance.sound.seconds or transcript.seconds
        # Of a file that was not opened only its length is known, which is all the time there was to speak.
        if transcript.is_silence or is_made_up(transcript.text, seconds if speech_seconds is None else speech_seconds):
            return _silence(language, seconds)
        return transcript

    async def _speech_seconds(self, utterance: Utterance) -> float | None:
        return await self._detector.speech_seconds(utterance.sound) if utterance.is_opened else None


def _silence(language: str | None, seconds: float) -> Transcript:
    return Transcript(text="", language=closest_language(language), seconds=seconds, outcome=HearingOutcome.SILENCE)
