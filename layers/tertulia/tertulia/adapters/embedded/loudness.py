"""Whether anything is to be heard at all, told without a model: enough where the ear itself judges what is speech."""

import asyncio
from array import array

from tertulia.domain.audio import BYTES_PER_SAMPLE, Sound

FRAME_SECONDS = 0.02
AUDIBLE = 330
"""A hundredth of the greatest sample, 40 dB below it: speech from a microphone is louder, its noise is not."""


class LoudnessDetector:
    """A SpeechDetector that takes whatever is audible for speech."""

    async def speech_seconds(self, sound: Sound) -> float:
        """Return for how long the sound is audible."""
        return await asyncio.to_thread(_audible_seconds, sound)


def _audible_seconds(sound: Sound) -> float:
    samples = array("h", sound.pcm[: len(sound.pcm) // BYTES_PER_SAMPLE * BYTES_PER_SAMPLE])
    size = max(1, round(sound.rate * FRAME_SECONDS))
    frames = (samples[start : start + size] for start in range(0, len(samples), size))
    return sum(len(frame) for frame in frames if (max(frame) > AUDIBLE or min(frame) < -AUDIBLE)) / sound.rate
