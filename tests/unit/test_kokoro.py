"""The parts of the local voice that need no weights."""

import pytest

from tertulia.adapters.embedded.kokoro import DEFAULT_VOICE, MOST_TOKENS, KokoroSynthesizer, token_lists
from tertulia.domain.errors import ModelMissing

VOCABULARY = {"a": 1, "b": 2, ".": 3}


def test_more_phonemes_than_the_model_takes_are_said_in_parts() -> None:
    lists = list(token_lists(["ab" * MOST_TOKENS, "a."], VOCABULARY))
    assert [len(tokens) for tokens in lists] == [MOST_TOKENS, MOST_TOKENS, 2]


def test_phonemes_without_a_number_are_left_out_and_marks_alone_are_not_said() -> None:
    assert list(token_lists(["aXb", "...", ""], VOCABULARY)) == [[1, 2]]


def test_it_has_its_voice_and_speaks_english_alone() -> None:
    voice = KokoroSynthesizer(DEFAULT_VOICE.parent)
    assert DEFAULT_VOICE.stat().st_size == 522_240
    assert voice.name == "kokoro-82m/af_heart"
    assert [voice.speaks(language) for language in ("en-US", "en", "de", "ja")] == [True, True, False, False]


async def test_missing_files_are_told_by_name() -> None:
    voice = KokoroSynthesizer(DEFAULT_VOICE.parent)
    with pytest.raises(ModelMissing, match=r"vocab\.json"):
        await voice.speak("Hello.")
    await voice.close()
