"""What every audio decoder promises."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.adapters.embedded.sndfile import SndfileDecoder
from tertulia.domain.errors import NoAudio, TertuliaError, TooLarge, UnsupportedMedia
from tertulia.ports import AudioDecoder
from tests.sounds import mutations, pcm_format, recording, tone, wav

DECODERS: dict[str, Callable[[], AudioDecoder]] = {"pyav": PyavDecoder, "sndfile": SndfileDecoder}
LEFT_TO_THE_TRANSCRIBER = {"sndfile": {"webm", "mp4"}}


@pytest.fixture(params=DECODERS)
def decoder(request: pytest.FixtureRequest) -> AudioDecoder:
    return DECODERS[request.param]()


@pytest.mark.parametrize("kind", ["wav", "webm", "ogg", "mp4", "mp3", "flac"])
async def test_each_container_is_told_and_becomes_sound_at_16_khz(
    decoder: AudioDecoder, kind: str, request: pytest.FixtureRequest
) -> None:
    utterance = await decoder.decode(recording(f"capital_of_france.{kind}"))
    assert utterance.container == kind
    assert utterance.sound.rate == 16_000
    is_left = kind in LEFT_TO_THE_TRANSCRIBER.get(request.node.callspec.params["decoder"], set())
    assert utterance.is_opened is not is_left
    assert is_left or utterance.sound.seconds == pytest.approx(2.4, abs=0.1)


async def test_the_file_is_kept_as_it_came(decoder: AudioDecoder) -> None:
    data = wav(tone())
    assert (await decoder.decode(data)).data == data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(wav(b""), id="header alone"),
        pytest.param(wav(tone(0.02)), id="20 ms"),
        pytest.param(wav(tone())[:20], id="half a header"),
        pytest.param(recording("capital_of_france.webm")[:40], id="the first bytes of a WebM"),
        pytest.param(recording("capital_of_france.mp4")[:400], id="an MP4 without its index"),
    ],
)
async def test_no_sound_is_no_audio(decoder: AudioDecoder, data: bytes) -> None:
    with pytest.raises(NoAudio):
        await decoder.decode(data)


async def test_what_is_no_sound_is_unsupported(decoder: AudioDecoder) -> None:
    with pytest.raises(UnsupportedMedia):
        await decoder.decode(b"A text that somebody renamed to .wav")


@pytest.mark.parametrize("kind", ["wav", "ogg", "mp3", "flac"])
async def test_of_a_recording_cut_short_what_is_there_is_heard(decoder: AudioDecoder, kind: str) -> None:
    data = recording(f"capital_of_france.{kind}")
    assert 0.8 < (await decoder.decode(data[: len(data) * 2 // 3])).sound.seconds < 2.2


@pytest.mark.parametrize("claimed", [0, 0xFFFFFFFF])
async def test_a_streamed_wav_whose_sizes_were_never_filled_in_is_heard(decoder: AudioDecoder, claimed: int) -> None:
    utterance = await decoder.decode(wav(tone(), claimed_size=claimed))
    assert utterance.sound.pcm == tone()


async def test_hours_in_a_small_file_are_refused_before_they_fill_the_memory(decoder: AudioDecoder) -> None:
    hour = wav(bytes(8000 * 3600), form=pcm_format(rate=8000, bits=8))
    with pytest.raises(TooLarge, match="10 minutes"):
        await decoder.decode(hour)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(["wav", "webm", "ogg", "mp4", "mp3", "flac"]), seed=st.integers(0, 2**32))
async def test_damaged_recordings_are_heard_or_refused_in_our_words(
    decoder: AudioDecoder, kind: str, seed: int
) -> None:
    for data in mutations(recording(f"capital_of_france.{kind}"), seed):
        try:
            utterance = await decoder.decode(data)
        except TertuliaError:
            continue
        assert not utterance.is_opened or 0.1 <= utterance.sound.seconds <= 600
