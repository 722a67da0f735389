"""What every speech detector promises."""

import random
import struct
from collections.abc import Callable

import pytest

from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.adapters.embedded.silero import SileroDetector
from tertulia.domain.audio import Sound
from tertulia.ports import SpeechDetector
from tests.model_files import model_library
from tests.sounds import recording, silence, tone

DETECTORS: dict[str, Callable[[], SpeechDetector]] = {
    "silero": lambda: SileroDetector(model_library("silero-vad").path("silero-vad")),
}

pytestmark = pytest.mark.models


@pytest.fixture(params=DETECTORS)
def detector(request: pytest.FixtureRequest) -> SpeechDetector:
    return DETECTORS[request.param]()


async def sound_of(name: str) -> Sound:
    return (await PyavDecoder().decode(recording(name))).sound


def noise(seconds: float, most: int = 300) -> bytes:
    chance = random.Random(7)  # noqa: S311 - not for secrets
    return b"".join(struct.pack("<h", chance.randrange(-most, most)) for _ in range(round(seconds * 16_000)))


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("capital_of_france.wav", 1.2, 1.9),
        ("ask_not.ogg", 5.0, 9.5),
        ("hello_world_float.wav", 0.5, 1.1),
        ("yes.ogg", 0.25, 0.8),
        ("stop.ogg", 0.25, 0.8),
        ("thank_you.ogg", 0.4, 0.9),
    ],
)
async def test_people_and_voices_are_heard_for_about_as_long_as_they_speak(
    detector: SpeechDetector, name: str, least: float, most: float
) -> None:
    assert least <= await detector.speech_seconds(await sound_of(name)) <= most


@pytest.mark.parametrize("name", ["capital_of_france.wav", "stop.ogg", "hello_world_float.wav"])
async def test_a_microphone_turned_down_is_heard_too(detector: SpeechDetector, name: str) -> None:
    loud = await sound_of(name)
    quiet = b"".join(struct.pack("<h", sample // 100) for (sample,) in struct.iter_unpack("<h", loud.pcm))
    assert await detector.speech_seconds(Sound(quiet, 16_000)) > 0.2


@pytest.mark.parametrize(
    "samples",
    [silence(2.0), noise(2.0), noise(2.0, 3), tone(2.0), b""],
    ids=["silence", "noise", "room", "tone", "nothing"],
)
async def test_where_nobody_speaks_next_to_nothing_is_heard(detector: SpeechDetector, samples: bytes) -> None:
    assert await detector.speech_seconds(Sound(samples, 16_000)) < 0.2


async def test_each_sound_is_judged_by_itself(detector: SpeechDetector) -> None:
    question = await sound_of("capital_of_france.wav")
    alone = await detector.speech_seconds(question)
    await detector.speech_seconds(await sound_of("ask_not.ogg"))
    assert await detector.speech_seconds(question) == alone


async def test_a_sound_at_another_rate_is_a_mistake_of_ours(detector: SpeechDetector) -> None:
    with pytest.raises(ValueError, match="16000"):
        await detector.speech_seconds(Sound(silence(), 24_000))
