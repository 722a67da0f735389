"""Where a recording can be cut into parts that are sound files too, without decoding it and without holding it."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from tertulia.domain.errors import UnsupportedMedia
from tertulia.domain.recordings import Part

PART_SECONDS = 300
MOST_PART_BYTES = 20_000_000
HEAD_BYTES = 262_144
"""Enough for the head of any file: tags may hold a picture."""

_OGG = b"OggS"
_MOST_DAMAGE_BYTES = 1_000_000
"""More than any page has, 65,307 bytes."""
_PAGE = struct.Struct("<4sBBqIIIB")
_OGG_OPUS_RATE = 48_000
"""Opus counts time in this rate, whatever was recorded."""
_CHUNK = struct.Struct("<4sI")
_WAV_START = 12
_ODD = 1


@dataclass(frozen=True)
class Cut:
    """A recording cut into parts."""

    head_bytes: int
    parts: tuple[Part, ...]


@dataclass
class OggCutter:
    """Cuts Ogg Opus between its pages, which tell the time; it is fed the file from its beginning, in pieces."""

    part_seconds: float = PART_SECONDS
    _rest: bytes = b""
    _place: int = 0
    """Where in the file the rest begins."""
    _head_bytes: int | None = None
    _starts: list[tuple[int, float]] = field(default_factory=list)
    _seconds: float = 0.0

    def feed(self, data: bytes) -> None:
        """Read on, past damaged places; raises UnsupportedMedia where nothing but damage comes."""
        self._rest += data
        used = 0
        for start, end, granule in _pages(self._rest):
            self._page(self._place + start, granule)
            used = end
        self._rest, self._place = self._rest[used:], self._place + used
        if len(self._rest) > _MOST_DAMAGE_BYTES:
            raise UnsupportedMedia("The recording is damaged.")

    def cut(self) -> Cut:
        """Return the parts of what was read; a last page cut short is left out."""
        if not self._starts or self._head_bytes is None:
            raise UnsupportedMedia
        ends = [start for start, _ in self._starts[1:]] + [self._place]
        parts = [
            Part(start=start, end=end, seconds=seconds)
            for (start, seconds), end in zip(self._starts, ends, strict=True)
        ]
        return Cut(self._head_bytes, tuple(parts))

    def _page(self, start: int, granule: int) -> None:
        if granule <= 0 and not self._starts:
            return
        if not self._starts:
            self._head_bytes = start
        began, since = self._starts[-1] if self._starts else (0, 0.0)
        if not self._starts or self._seconds - since >= self.part_seconds or start - began >= MOST_PART_BYTES:
            self._starts.append((start, self._seconds))
        # A page on which no packet ends tells no time.
        self._seconds = max(self._seconds, granule / _OGG_OPUS_RATE)


def cut_wav(head: bytes, size: int, part_seconds: float = PART_SECONDS) -> Cut:
    """Cut a WAV file of so many bytes by what its head says; raises UnsupportedMedia."""
    form, start = _wav(head)
    rate, frame = struct.unpack_from("<I", form, 4)[0], struct.unpack_from("<H", form, 12)[0]
    if not rate or not frame:
        raise UnsupportedMedia
    length = max(int(min(part_seconds * rate, MOST_PART_BYTES // frame)), 1) * frame
    return Cut(
        start,
        tuple(
            Part(start=place, end=min(place + length, size), seconds=(place - start) / frame / rate)
            for place in range(start, size, length)
        ),
    )


def file_of(head: bytes, sound: bytes) -> bytes:
    """Return a part as a sound file of its own: the head of the whole and the part's bytes."""
    if not head.startswith(b"RIFF"):
        return head + sound
    form, _ = _wav(head)
    chunks = b"".join([_CHUNK.pack(b"fmt ", len(form)), form, _CHUNK.pack(b"data", len(sound)), sound])
    return b"".join([_CHUNK.pack(b"RIFF", len(chunks) + 4), b"WAVE", chunks])


def _pages(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield begin, end and time of each whole page."""
    start = data.find(_OGG)
    while start >= 0 and start + _PAGE.size <= len(data):
        *_, granule, _, _, _, segments = _PAGE.unpack_from(data, start)
        table = data[start + _PAGE.size : start + _PAGE.size + segments]
        end = start + _PAGE.size + segments + sum(table)
        if len(table) < segments or end > len(data):
            return
        yield start, end, granule
        start = data.find(_OGG, end)


def _wav(head: bytes) -> tuple[bytes, int]:
    """Return the format of a WAV file and where its sound begins."""
    form, place = b"", _WAV_START
    while re.match(rb"RIFF.{4}WAVE", head, re.DOTALL) and place + _CHUNK.size <= len(head):
        name, length = _CHUNK.unpack_from(head, place)
        place += _CHUNK.size
        if name == b"data" and form:
            return form, place
        if name == b"fmt ":
            form = head[place : place + length]
        place += length + (length & _ODD)
    raise UnsupportedMedia
