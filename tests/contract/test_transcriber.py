"""What every transcriber promises."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tertulia.adapters.embedded.whisper import WhisperTranscriber
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.transcriber import GroqTranscriber
from tertulia.domain.audio import HearingOutcome, Sound, Utterance
from tertulia.domain.errors import ModelDown, TertuliaError
from tertulia.domain.languages import LANGUAGES
from tertulia.ports import Transcriber
from tests.fakes.scripted import ScriptedTranscriber
from tests.fakes.vendor import Failure, FakeGroq, Heard
from tests.model_links import break_file, model_links
from tests.sounds import recording, silence

WORDS = "What is the capital of France?"
SOUND = Sound(recording("capital_of_france.wav")[44:], 16_000)
UTTERANCE = Utterance(data=SOUND.as_wav(), container="wav", sound=SOUND)
NOTHING = Sound(silence(2.0), 16_000)


@dataclass(frozen=True)
class Subject:
    """A transcriber with the ways to bring it into the states that the tests need."""

    transcriber: Transcriber
    will_hear_nothing: Callable[[], None]
    will_fail: Callable[[], None]


def scripted() -> Subject:
    transcriber = ScriptedTranscriber(text=WORDS)

    def will_hear_nothing() -> None:
        transcriber.text, transcriber.outcome = "", HearingOutcome.SILENCE

    def will_fail() -> None:
        transcriber.error = ModelDown()

    return Subject(transcriber, will_hear_nothing, will_fail)


def of_groq(vendor: FakeGroq, groq: GroqConnection) -> Subject:
    def will_hear_nothing() -> None:
        vendor.hearings = [Heard(text="Thank you.", segments=({"text": "Thank you.", "no_speech_prob": 0.93},))]

    def will_fail() -> None:
        vendor.hearings = [Failure(status=503)] * 3

    return Subject(GroqTranscriber(groq, "whisper-large-v3"), will_hear_nothing, will_fail)


def whisper(name: str, tmp_path: Path) -> Subject:
    folder = model_links(name, tmp_path)

    def will_fail() -> None:
        break_file(folder / "model.bin")

    # Nothing need be arranged: it hears by itself that nobody speaks.
    return Subject(WhisperTranscriber(folder), lambda: None, will_fail)


@pytest.fixture(
    params=[
        "scripted",
        "groq",
        pytest.param("whisper-tiny-en", marks=pytest.mark.models),
    ]
)
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Subject:
    if request.param == "scripted":
        return scripted()
    if request.param.startswith("whisper"):
        return whisper(request.param, tmp_path)
    return of_groq(request.getfixturevalue("vendor"), request.getfixturevalue("groq"))


async def test_speech_becomes_its_words_with_a_language_of_ours_and_a_length(subject: Subject) -> None:
    heard = await subject.transcriber.transcribe(UTTERANCE, None)
    assert heard.text == WORDS
    assert heard.language in LANGUAGES
    assert heard.seconds > 0
    assert not heard.is_silence


async def test_silence_has_no_words(subject: Subject) -> None:
    subject.will_hear_nothing()
    heard = await subject.transcriber.transcribe(Utterance(NOTHING.as_wav(), "wav", NOTHING), "en-US")
    assert heard.is_silence
    assert heard.text == ""


async def test_a_failure_is_one_of_ours(subject: Subject) -> None:
    subject.will_fail()
    with pytest.raises(TertuliaError) as raised:
        await subject.transcriber.transcribe(UTTERANCE, None)
    assert raised.value.code == "model_down"


def test_a_transcriber_has_a_name(subject: Subject) -> None:
    assert subject.transcriber.name.strip()
