"""What every synthesizer promises."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tertulia.adapters.embedded.kokoro import KokoroSynthesizer
from tertulia.adapters.embedded.piper import MODEL, PiperSynthesizer
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.synthesizer import GroqSynthesizer
from tertulia.domain.errors import ModelDown, TertuliaError
from tertulia.ports import Synthesizer
from tests.fakes.scripted import ToneVoice
from tests.fakes.vendor import Failure, FakeGroq
from tests.model_files import OF_TESTS
from tests.model_links import break_file, model_links


@dataclass(frozen=True)
class Subject:
    """A synthesizer with the way to make it fail."""

    synthesizer: Synthesizer
    will_fail: Callable[[], None]


def tone() -> Subject:
    voice = ToneVoice()

    def will_fail() -> None:
        voice.error = ModelDown()

    return Subject(voice, will_fail)


def of_groq(vendor: FakeGroq, groq: GroqConnection) -> Subject:
    def will_fail() -> None:
        vendor.speeches = [Failure(status=503)] * 3

    return Subject(GroqSynthesizer(groq), will_fail)


def kokoro(tmp_path: Path) -> Subject:
    folder = model_links("kokoro", tmp_path)

    def will_fail() -> None:
        break_file(folder / "kokoro-v1.0.int8.onnx")

    return Subject(KokoroSynthesizer(folder), will_fail)


def piper(tmp_path: Path) -> Subject:
    folder = model_links("piper-joe", tmp_path, OF_TESTS)

    def will_fail() -> None:
        break_file(folder / MODEL)

    return Subject(PiperSynthesizer(folder), will_fail)


LOCAL = {"kokoro": kokoro, "piper": piper}


@pytest.fixture(params=["tone", "groq", *(pytest.param(name, marks=pytest.mark.models) for name in LOCAL)])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Subject:
    if request.param == "tone":
        return tone()
    if request.param in LOCAL:
        return LOCAL[request.param](tmp_path)
    return of_groq(request.getfixturevalue("vendor"), request.getfixturevalue("groq"))


async def test_a_text_becomes_sound_at_the_rate_it_tells(subject: Subject) -> None:
    sound = await subject.synthesizer.speak("Hello there, this is a test.")
    assert sound.rate == subject.synthesizer.rate
    assert len(sound.pcm) % 2 == 0
    assert any(sound.pcm)


async def test_a_longer_text_takes_longer_to_say(subject: Subject) -> None:
    short = await subject.synthesizer.speak("Yes.")
    long = await subject.synthesizer.speak("Yes, and here is all that there is to say about it.")
    assert long.seconds > short.seconds > 0


async def test_the_longest_text_it_takes_is_said(subject: Subject) -> None:
    most = subject.synthesizer.most_characters
    text = ("word " * most)[:most].strip().ljust(most, ".")
    assert (await subject.synthesizer.speak(text)).seconds > 0


async def test_two_texts_at_once_do_not_mix(subject: Subject) -> None:
    texts = ("One.", "Two and more than that.")
    alone = [(await subject.synthesizer.speak(text)).seconds for text in texts]
    together = await asyncio.gather(*(subject.synthesizer.speak(text) for text in texts))
    # Piper says nothing twice in quite the same time.
    assert [sound.seconds for sound in together] == pytest.approx(alone, rel=0.25)


async def test_a_failure_is_one_of_ours(subject: Subject) -> None:
    subject.will_fail()
    with pytest.raises(TertuliaError) as raised:
        await subject.synthesizer.speak("Hello.")
    assert raised.value.code == "model_down"


def test_it_speaks_english_and_has_a_name(subject: Subject) -> None:
    assert subject.synthesizer.speaks("en-US")
    assert subject.synthesizer.name.strip()
