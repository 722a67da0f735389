"""What every audio decoder promises."""

import pytest

from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.domain.errors import NoAudio, UnsupportedMedia
from tertulia.ports import AudioDecoder
from tests.sounds import recording, tone, wav

DECODERS = {"pyav": PyavDecoder}


@pytest.fixture(params=DECODERS)
def decoder(request: pytest.FixtureRequest) -> AudioDecoder:
    return DECODERS[request.param]()


@pytest.mark.parametrize("kind", ["wav", "webm", "ogg", "mp4", "mp3", "flac"])
async def test_each_container_is_told_and_becomes_sound_at_16_khz(decoder: AudioDecoder, kind: str) -> None:
    utterance = await decoder.decode(recording(f"capital_of_france.{kind}"))
    assert utterance.container == kind
    assert utterance.sound.rate == 16_000
    assert utterance.sound.seconds == pytest.approx(2.4, abs=0.1)


async def test_the_file_is_kept_as_it_came(decoder: AudioDecoder) -> None:
    data = wav(tone())
    assert (await decoder.decode(data)).data == data


@pytest.mark.parametrize("data", [b"", wav(b""), wav(tone(0.02))], ids=["empty", "header alone", "20 ms"])
async def test_no_sound_is_no_audio(decoder: AudioDecoder, data: bytes) -> None:
    with pytest.raises(NoAudio):
        await decoder.decode(data)


async def test_what_is_no_sound_is_unsupported(decoder: AudioDecoder) -> None:
    with pytest.raises(UnsupportedMedia):
        await decoder.decode(b"A text that somebody renamed to .wav")
