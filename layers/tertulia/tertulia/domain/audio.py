"""Sound as the product handles it: 16-bit mono samples with their rate."""

import io
import wave
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

BYTES_PER_SAMPLE = 2


@dataclass(frozen=True)
class Sound:
    """Mono PCM, 16-bit little-endian, at `rate` samples a second."""

    pcm: bytes
    rate: int

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.pcm) / BYTES_PER_SAMPLE / self.rate

    def as_wav(self) -> bytes:
        """Return it as one whole WAV file with right sizes."""
        return wav_of(self.pcm, self.rate, channels=1)


def wav_of(pcm: bytes, rate: int, channels: int) -> bytes:
    """Return interleaved 16-bit samples as a WAV file."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(BYTES_PER_SAMPLE)
        writer.setframerate(rate)
        writer.writeframes(pcm)
    return buffer.getvalue()


def wav_rate(data: bytes) -> int:
    """Return the samples a second of a WAV file of ours."""
    with wave.open(io.BytesIO(data)) as reader:
        return int(reader.getframerate())


def joined(sounds: Iterable[Sound], rate: int) -> Sound:
    """Join sounds of one rate in order; nothing at all is an empty sound of `rate`."""
    parts = list(sounds)
    rates = {part.rate for part in parts}
    if len(rates) > 1:
        raise ValueError(f"sounds of different rates cannot be joined: {sorted(rates)}")
    return Sound(b"".join(part.pcm for part in parts), rates.pop() if rates else rate)


@dataclass(frozen=True)
class Utterance:
    """What a person said: the file as it came, its container by its bytes, and the sound in it at 16 kHz."""

    data: bytes
    container: str
    """`wav`, `webm`, `ogg`, `mp4`, `mp3` or `flac`: also the file ending vendors want."""
    sound: Sound
    """Without samples where the file was not opened: then only a transcriber that takes files can tell what is in it."""

    @property
    def is_opened(self) -> bool:
        """Whether the sound in the file is known."""
        return bool(self.sound.pcm)


class HearingOutcome(StrEnum):
    """Whether words were heard."""

    SPEECH = "speech"
    SILENCE = "silence"


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """What was heard in an utterance."""

    text: str
    language: str
    seconds: float
    outcome: HearingOutcome = HearingOutcome.SPEECH

    @property
    def is_silence(self) -> bool:
        """Whether nobody spoke."""
        return self.outcome is HearingOutcome.SILENCE
