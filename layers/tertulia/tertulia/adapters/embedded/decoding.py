"""What decoders of recordings judge alike, whichever library opens the file."""

from tertulia.adapters.embedded.containers import container_of
from tertulia.domain.audio import Sound, Utterance
from tertulia.domain.errors import NoAudio, TooLarge, UnsupportedMedia

RATE = 16_000
LEAST_SECONDS = 0.1
MOST_SECONDS = 10 * 60
RATES = range(1_000, 768_001)
"""Other rates are damage, and resampling them could take minutes."""
DAMAGED = "The recording is damaged or empty. Record again, for at least half a second."


def checked_container(data: bytes) -> str:
    """Tell the container by the bytes; raises NoAudio or UnsupportedMedia."""
    if not data:
        raise NoAudio
    container = container_of(data)
    if container is None:
        raise UnsupportedMedia
    return container


def check_rate(rate: int) -> None:
    """Raise UnsupportedMedia for a rate that no recording has."""
    if rate not in RATES:
        raise UnsupportedMedia(f"Sound at {rate:,} samples a second is not supported.")


def check_length(seconds: float) -> None:
    """Raise TooLarge for what is longer than anybody speaks to an assistant."""
    if seconds > MOST_SECONDS:
        raise TooLarge(f"The recording is longer than {MOST_SECONDS // 60} minutes. Send a shorter one.")


def decoded(data: bytes, container: str, sound: Sound) -> Utterance:
    """Return what was opened; raises NoAudio for too little of it."""
    if sound.seconds < LEAST_SECONDS:
        raise NoAudio("The recording holds too little sound. Record again, for at least half a second.")
    return Utterance(data=data, container=container, sound=sound)
