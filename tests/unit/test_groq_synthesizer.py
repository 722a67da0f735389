"""Groq's Orpheus behind the Synthesizer port."""

import struct

import pytest

from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.synthesizer import ORPHEUS, GroqSynthesizer
from tertulia.adapters.groq.wav import sound_from
from tertulia.domain.audio import Sound
from tertulia.domain.errors import InvalidValue, ModelBusy, ModelDenied, ModelDown, NotConfigured, ProviderFailed
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import Failure, FakeGroq, streamed_wav

VOICES = ("autumn", "diana", "hannah", "austin", "daniel", "troy")


@pytest.fixture
def voice(groq: GroqConnection) -> GroqSynthesizer:
    return GroqSynthesizer(groq)


async def test_a_text_is_said_as_wav_with_the_seeds_voice_and_its_length_is_true(
    vendor: FakeGroq, voice: GroqSynthesizer
) -> None:
    """T2: nothing but WAV is ever asked for."""
    sound = await voice.speak("Hello there.")
    assert vendor.asked["speech"][0].body == {
        "input": "Hello there.",
        "model": ORPHEUS,
        "voice": "autumn",
        "response_format": "wav",
    }
    assert sound.rate == voice.rate == 24_000
    assert sound.seconds == pytest.approx(0.12)


async def test_the_rate_is_the_one_that_came(vendor: FakeGroq, voice: GroqSynthesizer) -> None:
    vendor.speeches = [streamed_wav(4_800, rate=48_000)]
    assert (await voice.speak("Hello.")).seconds == pytest.approx(0.1)
    assert voice.rate == 48_000


def test_it_takes_200_characters_and_speaks_english_only(voice: GroqSynthesizer) -> None:
    """T1: whoever cuts the text cuts it by this number."""
    assert voice.most_characters == 200
    assert [voice.speaks(tag) for tag in ("en-US", "en", "de", "pt-BR", "zh-CN")] == [True, True, False, False, False]


async def test_a_text_of_200_characters_is_taken_and_a_longer_one_is_not(
    vendor: FakeGroq, voice: GroqSynthesizer
) -> None:
    assert (await voice.speak("a" * 200)).seconds == pytest.approx(2.0)
    with pytest.raises(ProviderFailed):
        await voice.speak("a" * 201)


@pytest.mark.parametrize("name", ["Fritz-PlayAI", "alloy"])
def test_a_voice_of_another_vendor_stops_the_start_and_names_the_ones_there_are(
    groq: GroqConnection, name: str
) -> None:
    """T5."""
    with pytest.raises(NotConfigured) as raised:
        GroqSynthesizer(groq, ORPHEUS, name)
    assert all(voice in raised.value.message for voice in VOICES)
    assert "TTS_VOICE" in raised.value.message


@pytest.mark.parametrize("name", ["Autumn", " TROY "])
async def test_a_voice_may_be_written_with_capitals(vendor: FakeGroq, groq: GroqConnection, name: str) -> None:
    """T5."""
    await GroqSynthesizer(groq, ORPHEUS, name).speak("Hello.")
    assert vendor.asked["speech"][0].body["voice"] == name.strip().lower()


async def test_a_request_may_choose_its_voice_but_none_that_does_not_exist(
    vendor: FakeGroq, voice: GroqSynthesizer
) -> None:
    await voice.speak("Hello.", "Diana")
    assert vendor.asked["speech"][0].body["voice"] == "diana"
    with pytest.raises(InvalidValue, match="autumn, diana, hannah, austin, daniel, troy"):
        await voice.speak("Hello.", "Fritz-PlayAI")
    assert len(vendor.asked["speech"]) == 1


def test_a_model_we_do_not_know_may_have_any_voice(groq: GroqConnection) -> None:
    assert GroqSynthesizer(groq, "another/voice-model", "Zoe").name == "another/voice-model"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(status=400, code="model_terms_required"), ModelDenied),
        (Failure(status=500), ModelDown),
        (Failure(status=429, headers={"retry-after": "600"}), ModelBusy),
    ],
)
async def test_failures_have_the_same_names_as_those_of_language_models(
    vendor: FakeGroq, voice: GroqSynthesizer, failure: Failure, kind: type[Exception]
) -> None:
    vendor.speeches = [failure] * 3
    with pytest.raises(kind):
        await voice.speak("Hello.")


async def test_a_busy_voice_is_waited_for(vendor: FakeGroq, voice: GroqSynthesizer, clock: FakeClock) -> None:
    vendor.speeches = [Failure(status=429, headers={"retry-after": "2"})]
    assert (await voice.speak("Hello.")).seconds > 0
    assert clock.sleeps[0] >= 2


@pytest.mark.parametrize("data", [b"", b"<html>Please log in</html>", b"RIFF\0\0\0\0WAVE", b"ID3 an mp3"])
async def test_what_is_no_wav_is_a_failure_of_the_vendor(vendor: FakeGroq, voice: GroqSynthesizer, data: bytes) -> None:
    vendor.speeches = [data]
    with pytest.raises(ProviderFailed):
        await voice.speak("Hello.")


def test_sizes_that_a_streamed_file_cannot_know_mean_all_that_follows() -> None:
    """A1 and A8, for the vendor's files."""
    tone = streamed_wav(24_000)
    sound = sound_from(tone)
    assert sound.seconds == 1.0
    for size in (0, 0x7FFFFFFF, 2_000_000_000):
        at = tone.index(b"data") + 4
        assert sound_from(tone[:at] + struct.pack("<I", size) + tone[at + 4 :]) == sound


def test_a_file_with_right_sizes_and_something_behind_its_samples_is_read_to_its_end_only() -> None:
    sound = Sound(b"\1\0" * 100, 24_000)
    assert sound_from(sound.as_wav() + b"LIST\x04\0\0\0abcd") == sound


def test_half_a_sample_at_the_end_is_dropped() -> None:
    assert len(sound_from(streamed_wav(10) + b"\1").pcm) == 20


@pytest.mark.parametrize(("channels", "bits"), [(2, 16), (1, 8), (1, 32)])
def test_anything_but_mono_in_16_bits_is_refused(channels: int, bits: int) -> None:
    wav = bytearray(streamed_wav(10))
    wav[22:24] = struct.pack("<H", channels)
    wav[34:36] = struct.pack("<H", bits)
    with pytest.raises(ValueError, match="mono 16-bit"):
        sound_from(bytes(wav))
