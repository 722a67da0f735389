"""A spoken answer in one piece: its sentences joined to one WAV, its words in headers."""

import io
import unicodedata
import wave
from collections.abc import Sequence
from urllib.parse import quote

from tertulia.domain.audio import Sound, joined
from tertulia.domain.replies import Spoke
from tertulia.usecases.fold import Reply

MOST_HEADER_BYTES = 2000
"""All headers of an answer must stay below 10,240 bytes in the cloud."""
EMPTY_RATE = 24_000


def joined_wav(speech: Sequence[Spoke]) -> bytes:
    """Return the sentences as one WAV; none at all is a valid empty one."""
    return joined([sound_of(spoke.audio) for spoke in speech if spoke.audio], EMPTY_RATE).as_wav()


def sound_of(wav: bytes) -> Sound:
    """Read a WAV of our own making."""
    with wave.open(io.BytesIO(wav)) as reader:
        return Sound(reader.readframes(reader.getnframes()), reader.getframerate())


def readable(text: str) -> str:
    """Return a text as a header shows it as it stands: accents folded, what has no ASCII dropped, one line."""
    folded = unicodedata.normalize("NFKD", " ".join(text.split())).encode("ascii", "ignore").decode()
    return " ".join("".join(filter(str.isprintable, folded))[:MOST_HEADER_BYTES].split())


def exact(text: str) -> str:
    """Return the exact text percent-encoded, cut at a whole character."""
    pieces: list[str] = []
    room = MOST_HEADER_BYTES
    for character in text:
        piece = quote(character, safe="", errors="replace")
        room -= len(piece)
        if room < 0:
            break
        pieces.append(piece)
    return "".join(pieces)


def audio_error(reply: Reply) -> str | None:
    """Say why an answer, or a part of it, was not spoken; None where it was."""
    if reply.is_silence:
        return None
    reasons = [what for what in reply.done.receipt.degraded if what.startswith("speech")]
    if reply.speech and not reasons:
        return None
    reason = reasons[0].partition(": ")[2] if reasons else ""
    return f"The answer could not be spoken{': ' + readable(reason) if reason else ''}."


def spoken_headers(reply: Reply) -> dict[str, str]:
    """Return the headers of a spoken answer."""
    heard = reply.transcript.text if reply.transcript else ""
    return {
        "X-Conversation-Id": reply.done.conversation_id,
        "X-Turn-Id": reply.done.turn_id or "",
        "X-Route": reply.done.route or "",
        "X-Transcript": readable(heard),
        "X-Response": readable(reply.done.response),
        "X-Transcript-Encoded": exact(heard),
        "X-Response-Encoded": exact(reply.done.response),
    }
