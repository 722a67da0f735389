"""Sounds made by the tests: tones, silence, and WAV files as good and as bad as people send them."""

import math
import random
import struct
from collections.abc import Iterator
from pathlib import Path

RECORDINGS = Path(__file__).parent / "recordings"
RATE = 16_000


def recording(name: str) -> bytes:
    """Return a file of the recordings."""
    return (RECORDINGS / name).read_bytes()


def tone(seconds: float = 1.0, rate: int = RATE) -> bytes:
    """Return samples of a tone, 16 bits."""
    samples = (int(8000 * math.sin(place * math.tau * 440 / rate)) for place in range(round(seconds * rate)))
    return b"".join(struct.pack("<h", sample) for sample in samples)


def silence(seconds: float = 1.0) -> bytes:
    """Return samples of nothing, 16 bits at 16 kHz."""
    return bytes(2 * round(seconds * RATE))


def pcm_format(*, rate: int = RATE, channels: int = 1, bits: int = 16, tag: int = 1) -> bytes:
    """Return the content of a format chunk."""
    frame = channels * bits // 8
    return struct.pack("<HHIIHH", tag, channels, rate, rate * frame, frame, bits)


def chunk(name: bytes, content: bytes, claimed_size: int | None = None) -> bytes:
    """Return a chunk of a RIFF file, padded to an even length; its size may be claimed to be another."""
    size = len(content) if claimed_size is None else claimed_size
    return name + struct.pack("<I", size) + content + bytes(len(content) % 2)


def riff(*chunks: bytes, claimed_size: int | None = None) -> bytes:
    """Return a WAV file of these chunks."""
    content = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(content) if claimed_size is None else claimed_size) + content


def wav(samples: bytes, *, form: bytes | None = None, claimed_size: int | None = None) -> bytes:
    """Return a WAV file of the samples; both its sizes may be claimed to be another."""
    return riff(chunk(b"fmt ", form or pcm_format()), chunk(b"data", samples, claimed_size), claimed_size=claimed_size)


def mutations(data: bytes, seed: int) -> Iterator[bytes]:
    """Yield the file damaged in a few ways."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    for _ in range(3):
        changed = bytearray(data)
        for _ in range(chance.choice([1, 4, 32])):
            place = chance.randrange(min(len(changed), chance.choice([64, 600, len(changed)])))
            changed[place] = chance.choice([0, 0xFF, chance.randrange(256)])
        yield bytes(changed[: chance.randrange(len(changed))] if chance.random() < 0.3 else changed)
