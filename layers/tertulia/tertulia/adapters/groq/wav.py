"""Reads the WAV files that Groq streams, whose header cannot know their length."""

import struct
from collections.abc import Iterator

from tertulia.domain.audio import BYTES_PER_SAMPLE, Sound

_CHUNK = struct.Struct("<4sI")
_FORMAT = struct.Struct("<HHIIHH")
_RIFF_HEADER = 12
_PCM = (0x0001, 0xFFFE)


def sound_from(data: bytes) -> Sound:
    """Read mono 16-bit PCM by its chunks; ValueError for anything else."""
    if data[:4] != b"RIFF" or data[8:_RIFF_HEADER] != b"WAVE":
        raise ValueError("the vendor's speech is no WAV file")
    chunks = dict(_chunks(data))
    if len(chunks.get(b"fmt ", b"")) < _FORMAT.size or b"data" not in chunks:
        raise ValueError("the vendor's WAV file lacks its format or its samples")
    kind, channels, rate, _, _, bits = _FORMAT.unpack_from(chunks[b"fmt "])
    if kind not in _PCM or channels != 1 or bits != BYTES_PER_SAMPLE * 8 or not rate:
        raise ValueError(f"the vendor's WAV file is not mono 16-bit PCM: {kind}, {channels} channels, {bits} bits")
    pcm = chunks[b"data"]
    return Sound(pcm[: len(pcm) - len(pcm) % BYTES_PER_SAMPLE], rate)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = _RIFF_HEADER
    while at + _CHUNK.size <= len(data):
        name, size = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if name == b"data" and (size == 0 or at + size > len(data)):
            size = len(data) - at  # a streamed file: all that follows
        yield name, data[at : at + size]
        at += size + size % 2
