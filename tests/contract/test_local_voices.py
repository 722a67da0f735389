"""The real ears and the real voices of this machine, together."""

import re
from collections.abc import AsyncIterator

import pytest

from tertulia.adapters.embedded.kokoro import KokoroSynthesizer
from tertulia.adapters.embedded.piper import PiperSynthesizer
from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.adapters.embedded.silero import SileroDetector
from tertulia.adapters.embedded.whisper import WhisperTranscriber
from tertulia.domain.replies import AnswerEvent, Spoke, Token
from tertulia.usecases.hear import Hear
from tertulia.usecases.speak import Speak, SpeechRequest
from tests.model_files import OF_TESTS, model_library
from tests.sounds import recording, silence, tone, wav

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def hear() -> Hear:
    library = model_library("silero-vad", "whisper-tiny-en")
    return Hear(
        PyavDecoder(),
        SileroDetector(library.path("silero-vad")),
        WhisperTranscriber(library.path("whisper-tiny-en")),
    )


@pytest.fixture(scope="module")
def voice() -> KokoroSynthesizer:
    return KokoroSynthesizer(model_library("kokoro").path("kokoro"))


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


@pytest.mark.parametrize("kind", ["wav", "webm", "ogg", "mp4"])
async def test_a_recorded_question_is_heard_word_for_word(hear: Hear, kind: str) -> None:
    transcript = await hear(recording(f"capital_of_france.{kind}"))
    assert words(transcript.text) == words("What is the capital of France?")
    assert transcript.language == "en-US"


async def test_a_person_is_heard(hear: Hear) -> None:
    heard = words((await hear(recording("ask_not.ogg"))).text)
    said = words(
        "And so my fellow Americans ask not what your country can do for you ask what you can do for your country"
    )
    assert len(set(said) & set(heard)) >= len(set(said)) - 1


@pytest.mark.parametrize(("name", "word"), [("yes", "yes"), ("stop", "stop"), ("thank_you", "thank")])
async def test_a_single_word_that_was_spoken_is_a_turn(hear: Hear, name: str, word: str) -> None:
    transcript = await hear(recording(f"{name}.ogg"))
    assert not transcript.is_silence
    assert word in words(transcript.text)


@pytest.mark.parametrize("samples", [silence(2.0), tone(2.0)], ids=["silence", "tone"])
async def test_where_nobody_speaks_silence_is_heard(hear: Hear, samples: bytes) -> None:
    assert (await hear(wav(samples))).is_silence


async def test_what_the_voice_says_is_understood(hear: Hear, voice: KokoroSynthesizer) -> None:
    text = "The meeting is at **3:45 PM** in room 12 😀. Please bring 20 dollars."
    sound = await Speak(voice).whole(SpeechRequest(text))
    assert sound.rate == 24_000
    heard = " ".join(words((await hear(sound.as_wav())).text))
    assert "meeting is at 3 45" in heard
    assert "bring 20" in heard


async def test_what_the_fast_voice_says_is_understood(hear: Hear) -> None:
    piper = PiperSynthesizer(model_library("piper-joe", root=OF_TESTS).path("piper-joe"))
    await piper.warm()
    text = "My brother plays the guitar every Sunday morning. We will meet you at the station tomorrow."
    sound = await Speak(piper).whole(SpeechRequest(text))
    assert sound.rate == 22_050
    assert words((await hear(sound.as_wav())).text) == words(text)
    await piper.close()


async def test_an_answer_is_spoken_while_it_is_written(voice: KokoroSynthesizer) -> None:
    async def answer() -> AsyncIterator[AnswerEvent]:
        for word in ["Paris", "is", "the", "capital.", "It", "is", "very", "old."]:
            yield Token(text=f"{word} ")

    spoken = [event async for event in Speak(voice).along(answer()) if isinstance(event, Spoke)]
    assert [each.text for each in spoken] == ["Paris is the capital.", "It is very old."]
    assert all(600 < each.duration_ms < 4000 for each in spoken)


@pytest.mark.parametrize("text", ["", "😀", "...", "日本語", "#*"])
async def test_what_cannot_be_said_is_a_short_silence(voice: KokoroSynthesizer, text: str) -> None:
    sound = await voice.speak(text)
    assert sound.rate == voice.rate
    assert 0 < sound.seconds < 1.5
