"""What is audible, told without a model."""

import pytest

from tertulia.adapters.embedded.loudness import LoudnessDetector
from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.domain.audio import Sound
from tests.sounds import recording


@pytest.mark.parametrize(("name", "least"), [("yes.ogg", 0.25), ("capital_of_france.wav", 1.0), ("ask_not.ogg", 5.0)])
async def test_what_people_say_is_audible(name: str, least: float) -> None:
    sound = (await PyavDecoder().decode(recording(name))).sound
    assert least <= await LoudnessDetector().speech_seconds(sound) <= sound.seconds


@pytest.mark.parametrize("pcm", [b"", b"\0", b"\0\0" * 16_000, b"\x20\x00\xe0\xff" * 8_000])
async def test_silence_and_a_microphones_noise_are_not(pcm: bytes) -> None:
    assert await LoudnessDetector().speech_seconds(Sound(pcm, 16_000)) == 0
