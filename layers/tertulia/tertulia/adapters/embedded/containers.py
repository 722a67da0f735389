"""Which container a recording is in, told by its first bytes."""

import re

# The head of a frame of layer III: sync, a known version, a bit rate that exists.
_MP3_FRAME = re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb][^\xf0-\xff]", re.DOTALL)


def container_of(data: bytes) -> str | None:
    """Tell the container by its first bytes; None for what is no sound that we take."""
    head = data[:16]
    if head[:4] in {b"RIFF", b"RIFX", b"RF64"} and head[8:12] == b"WAVE":
        return "wav"
    if head[4:8] in {b"ftyp", b"styp", b"moov"}:
        return "mp4"
    marks = {b"\x1a\x45\xdf\xa3": "webm", b"OggS": "ogg", b"fLaC": "flac", b"ID3": "mp3"}
    for mark, container in marks.items():
        if head.startswith(mark):
            return container
    return "mp3" if _MP3_FRAME.match(head) else None
