"""Any recording to sound, with FFmpeg inside PyAV: the bytes decide what it is, never a name or a header field."""

import asyncio
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tertulia.adapters.embedded.decoding import DAMAGED, RATE, check_length, check_rate, checked_container, decoded
from tertulia.domain.audio import BYTES_PER_SAMPLE, Sound, Utterance
from tertulia.domain.errors import NoAudio, TertuliaError, UnsupportedMedia

if TYPE_CHECKING:
    from av import AudioFrame
    from av.container import InputContainer

# FFmpeg is told the format: left to guess, it would also open playlists, which name other files and addresses.
_FORMATS = {"wav": "wav", "webm": "matroska", "ogg": "ogg", "mp4": "mp4", "mp3": "mp3", "flac": "flac"}


class PyavDecoder:
    """Decodes WAV, WebM, Ogg, MP4, MP3 and FLAC; of a file cut short, what is there."""

    async def decode(self, data: bytes) -> Utterance:
        """Judge the bytes, decode and resample them; raises NoAudio, TooLarge or UnsupportedMedia."""
        container = checked_container(data)
        return decoded(data, container, await asyncio.to_thread(_decode, data, container))


def _decode(data: bytes, container: str) -> Sound:
    import av

    pcm = bytearray()
    try:
        with av.open(io.BytesIO(data), "r", format=_FORMATS[container]) as source:
            for frame in _at_our_rate(_frames(source)):
                pcm += bytes(frame.planes[0])[: frame.samples * BYTES_PER_SAMPLE]
    except TertuliaError:
        raise
    except (av.FFmpegError, ValueError, OverflowError, MemoryError) as error:
        # A recording cut short ends in an error, after everything that can be heard of it.
        if not pcm:
            raise _failure(error) from error
    return Sound(bytes(pcm), RATE)


def _failure(error: Exception) -> TertuliaError:
    import av

    table: tuple[tuple[type[Exception], TertuliaError], ...] = (
        (av.DecoderNotFoundError, UnsupportedMedia()),
        (av.PatchWelcomeError, UnsupportedMedia()),
        (Exception, NoAudio(DAMAGED)),
    )
    return next(failure for kind, failure in table if isinstance(error, kind))


def _frames(source: "InputContainer") -> Iterator["AudioFrame"]:
    import av

    if not source.streams.audio:
        raise NoAudio("The file holds no sound.")
    seconds = 0.0
    for packet in source.demux(source.streams.audio[0]):
        try:
            frames = packet.decode()
        except av.InvalidDataError:
            continue  # one damaged packet, as at the start of many MP3 files
        for frame in frames:
            check_rate(frame.sample_rate)
            seconds += frame.samples / frame.sample_rate
            check_length(seconds)
            yield frame


def _at_our_rate(frames: Iterator["AudioFrame"]) -> Iterator["AudioFrame"]:
    from av import AudioResampler

    resampler = None
    kind = None
    for frame in frames:
        # Chained Ogg files change their rate midway, which a resampler does not survive.
        if resampler is None or kind != (frame.format.name, frame.layout.name, frame.sample_rate):
            kind = (frame.format.name, frame.layout.name, frame.sample_rate)
            if resampler is not None:
                yield from resampler.resample(None)
            resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
        frame.pts = None
        yield from resampler.resample(frame)
    if resampler is not None:
        yield from resampler.resample(None)
