"""Recordings as people send them: every container, every oddity of WAV, and damage."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tertulia.adapters.embedded.containers import container_of
from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.domain.audio import Utterance
from tertulia.domain.errors import NoAudio, TertuliaError, UnsupportedMedia
from tests.sounds import RATE, chunk, pcm_format, recording, riff, silence, tone, wav

KINDS = ["wav", "webm", "ogg", "mp4", "mp3", "flac"]


async def decoded(data: bytes) -> Utterance:
    return await PyavDecoder().decode(data)


def samples_of(utterance: Utterance) -> tuple[int, ...]:
    return struct.unpack(f"<{len(utterance.sound.pcm) // 2}h", utterance.sound.pcm)


@pytest.mark.parametrize("claimed", [0, 0xFFFFFFFF])
async def test_a_streamed_wav_whose_sizes_were_never_filled_in_is_as_long_as_its_samples(claimed: int) -> None:
    utterance = await decoded(wav(tone(), claimed_size=claimed))
    assert utterance.sound.seconds == pytest.approx(1.0, abs=0.01)
    assert utterance.sound.pcm == tone()


async def test_a_float_wav_of_a_web_page_is_heard() -> None:
    samples = b"".join(struct.pack("<f", value / 32768) for (value,) in struct.iter_unpack("<h", tone(rate=48_000)))
    utterance = await decoded(wav(samples, form=pcm_format(rate=48_000, bits=32, tag=3)))
    assert utterance.sound.seconds == pytest.approx(1.0, abs=0.01)
    assert max(samples_of(utterance)) == pytest.approx(8000, rel=0.02)


async def test_24_bits_are_heard() -> None:
    samples = b"".join(struct.pack("<i", value << 8)[:3] for (value,) in struct.iter_unpack("<h", tone()))
    utterance = await decoded(wav(samples, form=pcm_format(bits=24)))
    assert utterance.sound.pcm == tone()


async def test_8_bit_stereo_becomes_mono_at_16_khz() -> None:
    samples = bytes(128 + (value >> 8) for (value,) in struct.iter_unpack("<h", tone(rate=8000)) for _ in range(2))
    utterance = await decoded(wav(samples, form=pcm_format(rate=8000, channels=2, bits=8)))
    assert utterance.sound.seconds == pytest.approx(1.0, abs=0.01)
    assert max(samples_of(utterance)) == pytest.approx(8000, rel=0.1)


async def test_foreign_chunks_of_odd_length_put_no_click_before_the_first_sample() -> None:
    data = riff(
        chunk(b"fmt ", pcm_format() + b"\0\0"),
        chunk(b"fact", bytes(4)),
        chunk(b"LIST", b"x" * 17),
        chunk(b"data", tone()),
    )
    assert data.index(b"data") + 8 == 84
    assert (await decoded(data)).sound.pcm == tone()


async def test_tags_in_an_old_encoding_do_not_matter() -> None:
    tags = chunk(b"LIST", b"INFO" + chunk(b"INAM", "Café".encode("latin-1")))
    assert (await decoded(riff(chunk(b"fmt ", pcm_format()), tags, chunk(b"data", tone())))).sound.pcm == tone()


@pytest.mark.parametrize("kind", KINDS)
async def test_every_container_of_browsers_and_phones_is_told_by_its_bytes(kind: str) -> None:
    data = recording(f"capital_of_france.{kind}")
    utterance = await decoded(data)
    assert utterance.container == kind
    assert utterance.data == data
    assert utterance.sound.rate == RATE
    assert utterance.sound.seconds == pytest.approx(2.4, abs=0.1)


async def test_of_a_webm_cut_short_what_is_there_is_heard() -> None:
    data = recording("capital_of_france.webm")
    utterance = await decoded(data[: len(data) * 2 // 3])
    assert 0.8 < utterance.sound.seconds < 2.2


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(wav(b""), id="header alone"),
        pytest.param(wav(tone(0.02)), id="20 ms"),
        pytest.param(wav(tone())[:20], id="half a header"),
        pytest.param(recording("capital_of_france.webm")[:40], id="the first bytes of a WebM"),
        pytest.param(recording("capital_of_france.mp4")[:400], id="an MP4 without its index"),
        pytest.param(wav(tone(), form=pcm_format(channels=0)), id="no channels"),
        pytest.param(wav(tone(), form=pcm_format(rate=0)), id="no rate"),
    ],
)
async def test_what_holds_too_little_to_hear_is_no_audio(data: bytes) -> None:
    with pytest.raises(NoAudio):
        await decoded(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(500), id="png"),
        pytest.param(b"%PDF-1.7\n" + bytes(500), id="pdf"),
        pytest.param(b"Dear diary, this is a text that somebody renamed to .wav.", id="text"),
        pytest.param(b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/x.wav\n", id="playlist"),
        pytest.param(wav(tone(), form=pcm_format(tag=0x1234)), id="unknown codec"),
    ],
)
async def test_what_is_no_sound_is_unsupported(data: bytes) -> None:
    with pytest.raises(UnsupportedMedia):
        await decoded(data)


@pytest.mark.parametrize("rate", [1, 100_000_007])
async def test_a_rate_that_would_take_minutes_to_resample_is_refused(rate: int) -> None:
    with pytest.raises(UnsupportedMedia, match="samples a second"):
        await decoded(wav(tone(), form=pcm_format(rate=rate)))


async def test_ten_minutes_less_a_second_are_taken() -> None:
    utterance = await decoded(wav(silence(599)))
    assert utterance.sound.seconds == 599


async def test_two_ogg_streams_of_different_kinds_in_one_file_are_both_heard() -> None:
    both = recording("capital_of_france.ogg") + recording("yes.ogg")
    assert (await decoded(both)).sound.seconds > 2.3


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=64), st.sampled_from([b"RIFF\0\0\0\0WAVE", b"\x1aE\xdf\xa3", b"OggS", b"fLaC", b"ID3", b""]))
async def test_any_bytes_after_a_known_beginning_are_refused_in_our_words(rest: bytes, beginning: bytes) -> None:
    with pytest.raises(TertuliaError):
        await decoded(beginning + rest)


def test_only_sound_that_we_take_has_a_container() -> None:
    assert container_of(b"\xff\xd8\xff\xe0 a picture, though it begins like a frame of MP3") is None
    assert container_of(b"\xff") is None
