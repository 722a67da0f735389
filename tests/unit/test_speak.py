"""Speaking: in order while the answer is written, one sentence ahead, and never at the cost of the text."""

import asyncio
import io
import wave
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from tertulia.domain.audio import Sound
from tertulia.domain.errors import InvalidValue, ModelDown, NotConfigured
from tertulia.domain.replies import AnswerEvent, Degraded, Measured, ModelUsed, Spoke, Token, Waiting
from tertulia.domain.sentences import EarlyCuts
from tertulia.usecases.speak import Speak, SpeechRequest
from tests.fakes.scripted import ToneVoice


@dataclass
class HeldVoice(ToneVoice):
    """Says a text only when the test lets it, and notes what it began and what was taken from it."""

    may_speak: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    running: int = 0
    most_running: int = 0
    stopped: int = 0
    fails_at: str = ""

    async def speak(self, text: str, voice: str | None = None) -> Sound:
        self.said.append(text)
        if text == self.fails_at:
            raise ModelDown
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await self.may_speak.acquire()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        finally:
            self.running -= 1
        return Sound(bytes(2 * 24 * len(text)), self.rate)


@dataclass
class Answer:
    """An answer of these events, which knows whether it was closed early."""

    events: Sequence[AnswerEvent | Exception]
    closed: bool = False
    whole: bool = False

    async def stream(self) -> AsyncGenerator[AnswerEvent]:
        try:
            for event in self.events:
                await asyncio.sleep(0)
                if isinstance(event, Exception):
                    raise event
                yield event
            self.whole = True
        finally:
            self.closed = True


def tokens(text: str) -> list[AnswerEvent]:
    return [Token(text=word) for word in text.split(" ") for word in (f"{word} ",)]


async def everything(stream: AsyncIterator[AnswerEvent]) -> list[AnswerEvent]:
    return [event async for event in stream]


def spoken(events: Sequence[AnswerEvent]) -> list[Spoke]:
    return [event for event in events if isinstance(event, Spoke)]


def frames(audio: bytes) -> int:
    with wave.open(io.BytesIO(audio), "rb") as reader:
        return reader.getnframes()


async def test_every_sentence_is_spoken_in_order_and_every_event_passes() -> None:
    written = [Waiting(ahead=1), *tokens("Paris is the capital. It is old. **It is** large.")]
    events = await everything(Speak(ToneVoice()).along(Answer(written).stream(), None, "en-US"))
    assert [event for event in events if isinstance(event, Waiting | Token)] == written
    assert [(each.seq, each.text) for each in spoken(events)] == [
        (0, "Paris is the capital."),
        (1, "It is old."),
        (2, "**It is** large."),
    ]


async def test_a_sentence_is_a_whole_wav_with_its_length() -> None:
    voice = ToneVoice()
    (first,) = spoken(await everything(Speak(voice).along(Answer(tokens("Hello there.")).stream())))
    assert voice.said == ["Hello there."]
    assert first.audio.startswith(b"RIFF")
    assert frames(first.audio) == 24 * first.duration_ms == 240 * len("Hello there.")


async def test_the_receipt_learns_the_voice_once() -> None:
    events = await everything(Speak(ToneVoice()).along(Answer(tokens("One. Two. Three.")).stream()))
    notes = [event for event in events if isinstance(event, Measured | ModelUsed)]
    assert notes == [ModelUsed(job="speech", model="tone")]
    assert events.index(notes[0]) < events.index(spoken(events)[0])


async def test_text_never_waits_for_the_voice() -> None:
    voice = HeldVoice()
    stream = Speak(voice).along(Answer(tokens("One. Two. Three. Four.")).stream())
    written = [await anext(stream) for _ in range(4)]
    assert [type(event) for event in written] == [Token] * 4
    assert voice.running == 1
    voice.may_speak.release()
    for _ in range(3):
        voice.may_speak.release()
    assert len(spoken(await everything(stream))) == 4


async def test_one_sentence_is_made_at_a_time_and_at_most_one_beyond_what_was_taken() -> None:
    voice = HeldVoice(may_speak=asyncio.Semaphore(99))
    stream = Speak(voice).along(Answer(tokens("One. Two. Three. Four. Five. Six.")).stream())
    async for event in stream:
        if isinstance(event, Spoke):
            for _ in range(50):
                await asyncio.sleep(0)
            # One waits to be taken, and the next is made but may not be handed over.
            assert len(voice.said) <= event.seq + 3
    assert len(voice.said) == 6
    assert voice.most_running == 1


async def test_a_long_first_sentence_is_begun_at_a_comma_where_the_voice_is_slow() -> None:
    text = "The capital of France is Paris, which lies on the Seine. It is old."
    slow, fast = ToneVoice(), ToneVoice()
    await everything(Speak(slow).along(Answer(tokens(text)).stream()))
    await everything(Speak(fast, EarlyCuts()).along(Answer(tokens(text)).stream()))
    assert slow.said == ["The capital of France is Paris,", "which lies on the Seine.", "It is old."]
    assert fast.said == ["The capital of France is Paris, which lies on the Seine.", "It is old."]


async def test_a_failed_voice_is_noted_once_and_the_text_goes_on() -> None:
    voice = ToneVoice(error=ModelDown())
    written = tokens("One. Two. Three.")
    events = await everything(Speak(voice).along(Answer(written).stream()))
    assert [event for event in events if isinstance(event, Token)] == written
    assert [event for event in events if isinstance(event, Degraded)] == [Degraded(what="speech")]
    assert voice.said == ["One."]
    assert spoken(events) == []


async def test_a_voice_without_its_key_costs_no_text_either() -> None:
    events = await everything(Speak(ToneVoice(error=NotConfigured())).along(Answer(tokens("One. Two.")).stream()))
    assert Degraded(what="speech") in events
    assert len([event for event in events if isinstance(event, Token)]) == 2


async def test_a_language_without_a_voice_is_noted_and_nothing_is_said() -> None:
    voice = ToneVoice()
    events = await everything(Speak(voice).along(Answer(tokens("Bonjour. Salut.")).stream(), None, "fr"))
    assert [event for event in events if isinstance(event, Degraded)] == [Degraded(what="speech: no voice for French")]
    assert len([event for event in events if isinstance(event, Token)]) == 2
    assert voice.said == []


async def test_what_has_no_words_is_not_spoken_and_takes_no_number() -> None:
    events = await everything(Speak(ToneVoice()).along(Answer(tokens("One.\n\n---\n\n😀\n\nTwo.")).stream()))
    assert [(each.seq, each.text) for each in spoken(events)] == [(0, "One."), (1, "Two.")]


async def test_leaving_stops_the_voice_and_the_answer() -> None:
    voice, answer = HeldVoice(), Answer(tokens("One. Two. Three. Four. Five. Six. Seven."))
    stream = Speak(voice).along(answer.stream())
    for _ in range(3):
        await anext(stream)
    assert voice.running == 1
    assert isinstance(stream, AsyncGenerator)
    await stream.aclose()
    assert (voice.running, voice.stopped) == (0, 1)
    assert (answer.closed, answer.whole) == (True, False)


async def test_a_failing_answer_fails_as_it_would_alone() -> None:
    voice = HeldVoice()
    answer = Answer([*tokens("One. Two."), ModelDown("gone")])
    stream = Speak(voice).along(answer.stream())
    assert [await anext(stream), await anext(stream)] == tokens("One. Two.")
    with pytest.raises(ModelDown, match="gone"):
        await anext(stream)
    assert voice.running == 0


async def test_a_fault_of_our_own_in_the_voice_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        await everything(Speak(ToneVoice(error=ZeroDivisionError())).along(Answer(tokens("One. Two.")).stream()))


async def test_a_whole_text_is_one_sound_with_one_header() -> None:
    voice = ToneVoice(most_characters=30)
    sound = await Speak(voice).whole(SpeechRequest("One sentence is here. Another one is there. **Third** one."))
    audio = sound.as_wav()
    assert voice.said == ["One sentence is here. ", "Another one is there. ", "Third one."]
    assert frames(audio) == sum(240 * len(said) for said in voice.said)
    assert audio.count(b"RIFF") == 1


async def test_pieces_are_made_side_by_side_but_at_most_four_at_once() -> None:
    voice = HeldVoice(most_characters=12, may_speak=asyncio.Semaphore(0))
    task = asyncio.create_task(
        Speak(voice).whole(SpeechRequest("Number one. Number two. Three here. Four there. Five is it. Six."))
    )
    for _ in range(20):
        await asyncio.sleep(0)
    assert voice.running == 4
    for _ in range(9):
        voice.may_speak.release()
    await task
    assert voice.most_running == 4


async def test_no_call_is_longer_than_the_voice_takes() -> None:
    voice = ToneVoice(most_characters=40)
    text = "Call 555-1234, 555-1235, 555-1236, 555-1237, 555-1238 and 555-1239 today. " * 3
    await Speak(voice).whole(SpeechRequest(text))
    _ = [each async for each in Speak(voice).sentences(SpeechRequest(text))]
    assert max(map(len, voice.said)) <= 40


async def test_when_one_piece_fails_the_others_stop() -> None:
    voice = HeldVoice(most_characters=12, fails_at="Number two. ")
    with pytest.raises(ModelDown):
        await Speak(voice).whole(SpeechRequest("Number one. Number two. Three here. Four there. Five is it. Six."))
    assert voice.running == 0
    assert voice.stopped == len(voice.said) - 1


async def test_a_whole_text_without_words_is_an_empty_sound() -> None:
    assert (await Speak(ToneVoice()).whole(SpeechRequest("😀"))).seconds == 0


async def test_a_whole_text_in_a_language_without_a_voice_is_refused_with_its_name() -> None:
    with pytest.raises(InvalidValue, match="Japanese"):
        await Speak(ToneVoice()).whole(SpeechRequest("こんにちは", language="ja"))
    with pytest.raises(InvalidValue, match="Japanese"):
        await anext(Speak(ToneVoice()).sentences(SpeechRequest("こんにちは", language="ja")))


async def test_a_text_can_be_had_sentence_by_sentence() -> None:
    found = [
        each async for each in Speak(ToneVoice()).sentences(SpeechRequest("One. **Two.**\n\n```\ncode\n```\nThree."))
    ]
    assert [(each.seq, each.text) for each in found] == [(0, "One."), (1, "**Two.**"), (2, "Three.")]
