"""Groq's Whisper behind the Transcriber port."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tertulia.adapters.groq.connection import GroqConnection
from tertulia.adapters.groq.transcriber import GroqTranscriber, HearingHints
from tertulia.domain.audio import Sound, Utterance
from tertulia.domain.errors import ModelDown, ModelKey, NoAudio, ProviderFailed, TooLarge
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import Failure, FakeGroq, Heard

WHISPER = "whisper-large-v3"
WEBM = Utterance(data=b"\x1aE\xdf\xa3 the very bytes", container="webm", sound=Sound(b"\0\0" * 32_000, 16_000))


@pytest.fixture
def transcriber(groq: GroqConnection) -> GroqTranscriber:
    return GroqTranscriber(groq, WHISPER)


async def test_the_bytes_go_out_untouched_under_a_name_that_ends_as_their_container(
    vendor: FakeGroq, transcriber: GroqTranscriber
) -> None:
    """W5."""
    heard = await transcriber.transcribe(WEBM, None)
    asked = vendor.asked["hearing"][0]
    assert asked.file_name == "audio.webm"
    assert asked.file == WEBM.data
    assert (heard.text, heard.language, heard.is_silence) == ("What is the capital of France?", "en-US", False)


async def test_it_asks_as_the_seeds_do(vendor: FakeGroq, transcriber: GroqTranscriber) -> None:
    await transcriber.transcribe(WEBM, None)
    assert vendor.asked["hearing"][0].body == {
        "model": WHISPER,
        "response_format": "verbose_json",
        "temperature": "0.0",
    }


@pytest.mark.parametrize(
    ("asked_for", "setting", "sent"),
    [("pt-BR", "en", "pt"), (None, "en", "en"), (None, None, None), ("zh-TW", None, "zh"), ("ja", "en", "ja")],
)
async def test_the_language_of_the_request_wins_over_the_setting(
    vendor: FakeGroq, groq: GroqConnection, asked_for: str | None, setting: str | None, sent: str | None
) -> None:
    await GroqTranscriber(groq, WHISPER, HearingHints(language=setting)).transcribe(WEBM, asked_for)
    assert vendor.asked["hearing"][0].body.get("language") == sent


async def test_the_vocabulary_is_sent_at_most_as_long_as_the_vendor_takes_it(
    vendor: FakeGroq, groq: GroqConnection
) -> None:
    await GroqTranscriber(groq, WHISPER, HearingHints(words="x" * 500 + "Tertulia " * 100)).transcribe(WEBM, None)
    prompt = vendor.asked["hearing"][0].body["prompt"]
    assert len(prompt) == 896
    assert prompt.endswith("Tertulia ")


@pytest.mark.parametrize(
    ("said", "wished", "language"),
    [
        ("English", None, "en-US"),
        ("chinese", None, "zh-CN"),
        ("Chinese", "zh-TW", "zh-TW"),
        ("portuguese", None, "pt-BR"),
        ("Spanish", "es", "es-ES"),
        ("de", None, "de"),
        ("", "fr", "fr"),
        ("", None, "en-US"),
        ("Klingon", None, "en-US"),
        ("english", "de", "en-US"),
    ],
)
async def test_the_languages_name_becomes_one_of_our_tags(
    vendor: FakeGroq, transcriber: GroqTranscriber, said: str, wished: str | None, language: str
) -> None:
    vendor.hearings = [Heard(language=said)]
    assert (await transcriber.transcribe(WEBM, wished)).language == language


def segment(text: str, no_speech: float, likelihood: float | None = -0.2) -> Mapping[str, Any]:
    return {"text": text, "no_speech_prob": no_speech} | ({} if likelihood is None else {"avg_logprob": likelihood})


@pytest.mark.parametrize(
    "segments",
    [
        (segment(" Thank you.", 0.93, None),),
        (segment(" Thank you.", 0.93, -0.2),),
        (segment(" Thank you.", 0.7, -0.9),),
        (segment(" Thank", 0.95), segment(" you.", 0.65, -1.2)),
    ],
)
async def test_what_the_model_itself_takes_for_no_speech_is_silence(
    vendor: FakeGroq, transcriber: GroqTranscriber, segments: tuple[Mapping[str, Any], ...]
) -> None:
    """W1."""
    vendor.hearings = [Heard(text="Thank you.", segments=segments)]
    heard = await transcriber.transcribe(WEBM, None)
    assert heard.is_silence
    assert heard.text == ""


async def test_words_the_model_is_sure_of_count_though_it_mildly_doubts_them(
    vendor: FakeGroq, transcriber: GroqTranscriber
) -> None:
    vendor.hearings = [Heard(text="Stop.", segments=(segment(" Stop.", 0.7, -0.1),))]
    assert (await transcriber.transcribe(WEBM, None)).text == "Stop."


async def test_politeness_made_up_after_real_speech_is_left_out(vendor: FakeGroq, transcriber: GroqTranscriber) -> None:
    segments = (segment(" What time is it?", 0.02), segment(" Thank you.", 0.97))
    vendor.hearings = [Heard(text="What time is it? Thank you.", segments=segments)]
    assert (await transcriber.transcribe(WEBM, None)).text == "What time is it?"


async def test_an_empty_text_is_silence_and_a_missing_length_is_the_sounds_own(
    vendor: FakeGroq, transcriber: GroqTranscriber
) -> None:
    vendor.hearings = [Heard(text=" ", duration=0)]
    heard = await transcriber.transcribe(WEBM, None)
    assert heard.is_silence
    assert heard.seconds == 2.0


async def test_a_vendor_that_is_down_for_a_moment_is_asked_again(
    vendor: FakeGroq, transcriber: GroqTranscriber, clock: FakeClock
) -> None:
    vendor.hearings = [Failure(status=503), Heard(text="Hello.")]
    assert (await transcriber.transcribe(WEBM, None)).text == "Hello."
    assert len(clock.sleeps) == 1
    assert vendor.asked["hearing"][1].file == WEBM.data


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(status=401), ModelKey),
        (Failure(status=413), TooLarge),
        (Failure(status=500), ModelDown),
        (Failure(status=400), ProviderFailed),
    ],
)
async def test_failures_have_the_same_names_as_those_of_language_models(
    vendor: FakeGroq, transcriber: GroqTranscriber, failure: Failure, kind: type[Exception]
) -> None:
    vendor.hearings = [failure] * 3
    with pytest.raises(kind):
        await transcriber.transcribe(WEBM, None)


async def test_a_web_page_instead_of_a_transcript_is_a_failure_of_the_vendor(
    vendor: FakeGroq, transcriber: GroqTranscriber
) -> None:
    vendor.hearings = [Heard(garbled=True)]
    with pytest.raises(ProviderFailed):
        await transcriber.transcribe(WEBM, None)


async def test_a_file_that_nobody_opened_and_the_vendor_cannot_open_is_no_audio(
    vendor: FakeGroq, transcriber: GroqTranscriber
) -> None:
    vendor.hearings = [Failure(status=400)]
    with pytest.raises(NoAudio):
        await transcriber.transcribe(replace(WEBM, sound=Sound(b"", 16_000)), None)
