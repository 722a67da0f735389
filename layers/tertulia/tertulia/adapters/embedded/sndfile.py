"""Recordings opened with libsndfile: a thirtieth of FFmpeg's size, where the transcriber takes the rest as it comes."""

import asyncio
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tertulia.adapters.embedded.decoding import DAMAGED, RATE, check_length, check_rate, checked_container, decoded
from tertulia.domain.audio import Sound, Utterance
from tertulia.domain.errors import NoAudio, TertuliaError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from soundfile import SoundFile  # type: ignore[import-untyped]

BLOCK = 4_096
"""An error loses no more of what was read before it."""
UNOPENED = frozenset({"webm", "mp4"})
"""Containers that libsndfile does not know; those who write down what is said take them as they are."""
LEAST_BYTES = 512
"""What browsers and phones write before the first sound is longer."""


class SndfileDecoder:
    """Decodes WAV, Ogg, FLAC and MP3; WebM and MP4 are passed on unopened, for a transcriber that takes files."""

    async def decode(self, data: bytes) -> Utterance:
        """Judge the bytes, and open them where that is possible; raises NoAudio, TooLarge or UnsupportedMedia."""
        container = checked_container(data)
        if container in UNOPENED:
            if len(data) < LEAST_BYTES:
                raise NoAudio
            return Utterance(data=data, container=container, sound=Sound(b"", RATE))
        return decoded(data, container, await asyncio.to_thread(_decode, data))


def _decode(data: bytes) -> Sound:
    import soundfile

    # A streamed WAV may claim to hold nothing; that its length is not known is written so.
    data = data.replace(b"data\0\0\0\0", b"data\xff\xff\xff\xff", 1)
    pcm = bytearray()
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as source:
            for samples in _at_our_rate(source):
                pcm += samples.tobytes()
    except TertuliaError:
        raise
    except (soundfile.LibsndfileError, RuntimeError, ValueError, TypeError, MemoryError) as error:
        # A recording cut short ends in an error, after everything that can be heard of it.
        if not pcm:
            raise NoAudio(DAMAGED) from error
    return Sound(bytes(pcm), RATE)


def _at_our_rate(source: "SoundFile") -> "Iterator[NDArray[np.int16]]":
    """Yield mono samples of 16 bits; straight lines between samples do where only loudness is judged."""
    import numpy as np

    rate: int = source.samplerate
    check_rate(rate)
    begun = 0
    while len(block := source.read(BLOCK, dtype="float32", always_2d=True)):
        mono = np.nan_to_num(block).mean(axis=1)
        end = begun + len(mono)
        check_length(end / rate)
        wanted = np.arange(-(-begun * RATE // rate), -(-end * RATE // rate)) * (rate / RATE) - begun
        resampled = np.interp(wanted, np.arange(len(mono)), mono)
        yield (np.clip(resampled, -1, 32767 / 32768) * 32768).round().astype("<i2")
        begun = end
