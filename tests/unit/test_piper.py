"""The parts of the fast voice that need no weights."""

from pathlib import Path

import pytest

from tertulia.adapters.embedded.piper import MODEL, PiperSynthesizer, piper_is_installed
from tertulia.domain.errors import ModelMissing


@pytest.mark.parametrize("text", ["", " ", "😀", "...", "#*"])
async def test_what_cannot_be_said_is_a_short_silence(tmp_path: Path, text: str) -> None:
    voice = PiperSynthesizer(tmp_path)
    sound = await voice.speak(text)
    assert (sound.rate, any(sound.pcm)) == (voice.rate, False)
    assert 0 < sound.seconds < 0.5


def test_it_speaks_english_alone(tmp_path: Path) -> None:
    voice = PiperSynthesizer(tmp_path)
    assert [voice.speaks(language) for language in ("en-US", "en", "de", "ja")] == [True, True, False, False]


async def test_missing_files_are_told_by_name(tmp_path: Path) -> None:
    assert piper_is_installed()
    voice = PiperSynthesizer(tmp_path)
    with pytest.raises(ModelMissing, match=MODEL):
        await voice.speak("Hello.")
    await voice.close()
