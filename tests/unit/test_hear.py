"""Hearing: silence is told before a model is asked, and what models make up is no turn."""

import tracemalloc
from dataclasses import dataclass

import pytest

from tertulia.adapters.embedded.loudness import LoudnessDetector
from tertulia.adapters.embedded.pyav import PyavDecoder
from tertulia.adapters.embedded.sndfile import SndfileDecoder
from tertulia.domain.audio import HearingOutcome
from tertulia.domain.errors import ModelDown, NoAudio, TooLarge, UnsupportedMedia
from tertulia.domain.hearing import Segment, heard_words, is_made_up
from tertulia.usecases.hear import MOST_BYTES, Hear
from tests.fakes.scripted import ScriptedDecoder, ScriptedDetector, ScriptedTranscriber
from tests.sounds import pcm_format, recording, silence, tone, wav


@dataclass
class Ears:
    hear: Hear
    transcriber: ScriptedTranscriber


def ears(text: str, speech_seconds: float, outcome: HearingOutcome = HearingOutcome.SPEECH) -> Ears:
    transcriber = ScriptedTranscriber(text=text, outcome=outcome)
    return Ears(Hear(PyavDecoder(), ScriptedDetector(speech_seconds), transcriber), transcriber)


async def test_what_is_said_is_heard() -> None:
    listener = ears("What time is it?", 1.0)
    transcript = await listener.hear(wav(tone(2.0)), "en-US")
    assert (transcript.text, transcript.outcome, transcript.seconds) == ("What time is it?", HearingOutcome.SPEECH, 2.0)


async def test_two_seconds_of_nothing_are_silence_and_no_model_is_asked() -> None:
    listener = ears("Thank you.", 0.0)
    transcript = await listener.hear(wav(silence(2.0)), "de-DE")
    assert (transcript.text, transcript.is_silence, transcript.seconds) == ("", True, 2.0)
    assert transcript.language == "de"
    assert listener.transcriber.heard == []


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="0 bytes"),
        pytest.param(wav(b""), id="header alone"),
        pytest.param(wav(tone(0.02)), id="20 ms"),
    ],
)
async def test_too_little_to_hear_costs_no_call(data: bytes) -> None:
    listener = ears("never", 1.0)
    with pytest.raises(NoAudio):
        await listener.hear(data)
    assert listener.transcriber.heard == []


async def test_26_megabytes_are_refused_with_the_limit() -> None:
    listener = ears("never", 1.0)
    with pytest.raises(TooLarge, match="25 MB"):
        await listener.hear(wav(bytes(26 * 1024 * 1024)))
    assert listener.transcriber.heard == []


async def test_a_picture_is_refused() -> None:
    with pytest.raises(UnsupportedMedia):
        await ears("never", 1.0).hear(b"\x89PNG\r\n\x1a\n" + bytes(100))


@pytest.mark.parametrize("text", ["Yes.", "Stop.", "No.", "Thank you.", "Okay.", "はい。"])
async def test_a_short_word_that_was_spoken_is_heard(text: str) -> None:
    listener = Hear(ScriptedDecoder(), ScriptedDetector(0.4), ScriptedTranscriber(text=text))
    assert (await listener(b"sound")).text == text


@pytest.mark.parametrize(
    ("text", "speech_seconds"),
    [
        ("Thank you.", 0.25),
        ("Thank you very much.", 0.4),
        ("you", 0.25),
        ("Thanks for watching!", 3.0),
        ("Subtitles by the Amara.org community", 3.0),
        ("ご視聴ありがとうございました", 3.0),
        ("字幕由Amara.org社区提供", 3.0),
        ("Продолжение следует...", 0.4),
        ("", 3.0),
        ("...", 3.0),
        ("♪♪", 3.0),
    ],
)
async def test_what_models_write_where_nobody_speaks_is_silence(text: str, speech_seconds: float) -> None:
    listener = Hear(ScriptedDecoder(), ScriptedDetector(speech_seconds), ScriptedTranscriber(text=text))
    transcript = await listener(b"sound")
    assert transcript.is_silence
    assert transcript.text == ""


async def test_silence_in_the_eyes_of_the_model_is_silence() -> None:
    listener = ears("", 1.0, HearingOutcome.SILENCE)
    assert (await listener.hear(wav(tone()))).is_silence


async def test_a_failing_model_is_no_silence() -> None:
    transcriber = ScriptedTranscriber(error=ModelDown())
    with pytest.raises(ModelDown):
        await Hear(ScriptedDecoder(), ScriptedDetector(), transcriber)(b"sound")


def test_a_segment_in_which_the_model_does_not_believe_is_not_heard() -> None:
    doubted = Segment(text=" Thank you.", no_speech_probability=0.93)
    assert heard_words([doubted]) == ""
    assert heard_words([Segment(text=" Turn left.", no_speech_probability=0.1), doubted]) == "Turn left."


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        ("Stop. Stop. Stop. Stop. Stop. St", "Stop."),
        ("What is it? What is it? What is it? What is it? What", "What is it?"),
        ("Row, row, row your boat.", "Row, row, row your boat."),
        ("No no no.", "No no no."),
        ("7 7 7 7 7", "7 7 7 7 7"),
    ],
)
def test_a_model_in_a_loop_is_heard_once(written: str, heard: str) -> None:
    assert heard_words([Segment(text=written)]) == heard


def test_a_sentence_that_contains_a_phrase_is_no_phrase() -> None:
    assert not is_made_up("Thank you, that is all for today.", 0.3)
    assert not is_made_up("What does thank you mean in Japanese?", 0.3)


@pytest.mark.parametrize("kind", ["webm", "mp4"])
async def test_what_is_not_opened_here_is_heard_by_the_transcriber(kind: str) -> None:
    """A browser's and a phone's own containers, in the cloud."""
    data = recording(f"capital_of_france.{kind}")
    transcriber = ScriptedTranscriber(text="What is the capital of France?")
    transcript = await Hear(SndfileDecoder(), LoudnessDetector(), transcriber)(data)
    assert transcript.text == "What is the capital of France?"
    assert transcriber.heard[0].data == data


async def test_what_is_not_opened_and_holds_no_speech_is_silence() -> None:
    transcriber = ScriptedTranscriber(text="", outcome=HearingOutcome.SILENCE)
    hear = Hear(SndfileDecoder(), LoudnessDetector(), transcriber)
    assert (await hear(recording("capital_of_france.webm"), "de")).is_silence


async def test_nothing_in_a_file_that_is_opened_costs_no_call() -> None:
    transcriber = ScriptedTranscriber(text="Thank you.")
    assert (await Hear(SndfileDecoder(), LoudnessDetector(), transcriber)(wav(silence(2.0)))).is_silence
    assert transcriber.heard == []


async def test_the_largest_recording_is_heard_in_the_cloud_with_little_memory() -> None:
    data = wav(tone(1.0, 22_050) * 565, form=pcm_format(rate=22_050))
    hear = Hear(SndfileDecoder(), LoudnessDetector(), ScriptedTranscriber())
    await hear(wav(tone(1.0)))
    tracemalloc.start()
    transcript = await hear(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 24_900_000 < len(data) <= MOST_BYTES
    assert not transcript.is_silence
    assert most < 3 * len(data)
