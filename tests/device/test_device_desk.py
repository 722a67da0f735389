"""What a device may rely on: one answer to each message, whatever is delivered twice, late or broken."""

import asyncio
import hashlib
import io
import json
import logging
import wave
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tertulia.assistant import Assistant
from tertulia.domain.devices import MESSAGE_BYTES, SPEECH_BYTES, Device
from tertulia.domain.errors import InProgress, ModelDown, RateLimited
from tertulia.domain.prompts import Json
from tertulia.domain.replies import Numbered, Spoke
from tertulia.domain.topics import down_topic, speech_topic
from tertulia.ports.devices import Kept
from tertulia.usecases.device_replies import DeviceReplies, Downlink, fitting
from tertulia.wire import downlink_to_json
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.devices import RememberingLink
from tests.fakes.scripted import ScriptedModel

WAV = b"RIFF...."


class Clip:
    """A device of Ana's at the desk."""

    def __init__(self, assistant: Assistant, link: RememberingLink, clock: FakeClock) -> None:
        self.assistant, self.link, self.clock = assistant, link, clock

    async def says(self, kind: str, message_id: str = "m1", **fields: Any) -> None:
        at = fields.pop("at", self.clock.now().isoformat())
        await self.sends(json.dumps({"type": kind, "id": message_id, "at": at, **fields}).encode())

    async def sends(self, payload: bytes, device: str = "clip-1") -> None:
        await self.assistant.device_desk.receive(device, payload)

    async def records(self, slices: int = 3, *, but: int | None = None, message_id: str = "m2") -> None:
        """Record an utterance, perhaps losing a slice."""
        await self.says("utterance_start", "m1", utterance="u1", format="wav", sample_rate=16_000, channels=1)
        for number in range(slices):
            if number != but:
                await self.assistant.stores.slices.put("clip-1", "u1", number, WAV[number::slices])
        await self.ends(slices, message_id)

    async def ends(self, slices: int = 3, message_id: str = "m2", sha256: str = "") -> None:
        data = b"".join(WAV[number::slices] for number in range(slices))
        digest = sha256 or hashlib.sha256(data).hexdigest()
        await self.says("utterance_end", message_id, utterance="u1", slices=slices, bytes=len(data), sha256=digest)


@pytest.fixture
def link() -> RememberingLink:
    return RememberingLink()


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel((("Hello", " there", "."),))


@pytest.fixture
async def clip(make_assistant: MakeAssistant, link: RememberingLink, model: ScriptedModel) -> Clip:
    clock = FakeClock()
    assistant = make_assistant(device_link=link, clock=clock, chat_model=model)
    await assistant.stores.devices.add(
        Device(id="clip-1", user="ana", name="Lapel", kind="clip", created_at=clock.now())
    )
    return Clip(assistant, link, clock)


async def test_a_hello_is_welcomed_and_its_wishes_count(clip: Clip, link: RememberingLink) -> None:
    await clip.says("hello", protocol=1, device={"speaker": True}, language="de", timezone="Europe/Berlin", tokens=True)

    welcome = link.only("welcome")
    assert welcome["protocol"] == 1
    assert welcome["speech"] == {"format": "wav", "sample_rate": clip.assistant.synthesizer.rate}
    assert welcome["server_time"] == clip.clock.now().isoformat()
    found = await clip.assistant.stores.devices.find("clip-1")
    assert found
    assert found.wishes == {"language": "de", "timezone": "Europe/Berlin", "tokens": True, "speaker": True}


async def test_a_question_is_accepted_answered_and_spoken(clip: Clip, link: RememberingLink) -> None:
    await clip.says("hello", protocol=1, device={}, tokens=True)
    await clip.says("ask", "m2", text="Hi")

    assert link.kinds[1:3] == ["accepted", "route"]
    assert link.kinds[-1] == "done"
    assert "token" in link.kinds
    assert link.only("accepted")["ref"] == "m2"
    done, speech = link.only("done"), link.only("speech")
    assert done["response"] == "Hello there."
    assert done["turn"] == done["turn_id"] == speech["turn"]
    assert (speech["first"], speech["slices"]) == (0, 1)
    said = link.speech[speech["turn"], 0]
    assert len(said) == speech["bytes"]
    with wave.open(io.BytesIO(said)) as sound:
        assert sound.getframerate() == speech["sample_rate"]
    [kept] = (await clip.assistant.conversations.page("ana")).items
    assert kept.id == done["conversation_id"]


async def test_a_device_without_a_speaker_is_sent_no_speech_and_no_tokens_unasked(
    clip: Clip, link: RememberingLink
) -> None:
    await clip.says("hello", protocol=1, device={"speaker": False})
    await clip.says("ask", "m2", text="Hi")

    assert {"speech", "token"}.isdisjoint(link.kinds)
    assert link.only("done")["response"] == "Hello there."


async def test_the_same_message_twice_is_one_turn_and_one_outcome_told_again(
    clip: Clip, link: RememberingLink, model: ScriptedModel
) -> None:
    await clip.says("ask", text="Hi")
    first = link.only("done")
    link.messages.clear()
    await clip.says("ask", text="Hi")

    assert link.kinds == ["accepted", "done"]
    assert link.only("done")["turn_id"] == first["turn_id"]
    assert len(model.prompts) == 1


async def test_a_message_delivered_twice_at_once_is_one_turn(clip: Clip, model: ScriptedModel) -> None:
    await asyncio.gather(clip.says("ask", text="Hi"), clip.says("ask", text="Hi"))

    assert len(model.prompts) == 1
    assert len((await clip.assistant.conversations.page("ana")).items) == 1


async def test_what_was_accepted_before_a_crash_is_answered_when_it_comes_again(
    clip: Clip, link: RememberingLink, model: ScriptedModel
) -> None:
    payload = json.dumps({"type": "ask", "id": "m1", "at": clip.clock.now().isoformat(), "text": "Hi"})
    await clip.assistant.stores.inbox.accept(
        Kept(device_id="clip-1", id="m1", payload=payload, received_at=clip.clock.now(), turn_id="t1")
    )
    await clip.sends(payload.encode())

    assert link.kinds[-1] == "done"
    await clip.sends(payload.encode())
    assert len(model.prompts) == 1


async def test_a_turn_that_runs_elsewhere_too_long_is_tried_again_later(clip: Clip, link: RememberingLink) -> None:
    kept = Kept(device_id="clip-1", id="m1", payload="{}", received_at=clip.clock.now(), turn_id="t1")
    await clip.assistant.stores.inbox.accept(kept)
    await clip.assistant.events.begin("ana", "t1")

    with pytest.raises(InProgress):
        await clip.says("ask", text="Hi")

    assert link.kinds == ["accepted"]


@pytest.mark.parametrize(
    "payload",
    [
        b"\xff\xfe",
        b"",
        b"[]",
        b'{"text":5}',
        b"[" * 50_000,
        b'{"type":"ask","id":"m1","at":"2030-06-01T12:00:00Z","text":5}',
        b'{"type":"ask","id":"m1","at":"2030-06-01T12:00:00","text":"a time without zone"}',
        b'{"type":"nonsense","id":"m1","at":"2030-06-01T12:00:00Z"}',
        *(
            json.dumps({"type": "prewarm", "id": bad, "at": "2030-06-01T12:00:00Z"}).encode()
            for bad in ("clip-1\n", "+", "#", "a/b", "$aws/things", "", "a" * 300)
        ),
    ],
)
async def test_a_bad_message_is_told_and_the_next_one_works(
    clip: Clip, link: RememberingLink, payload: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    await clip.sends(payload)

    error = link.only("error")
    assert error["code"] == "bad_message"
    assert error["ref"] in {None, "m1"}
    assert caplog.records
    await clip.says("ask", "m9", text="Hi")
    assert link.kinds[-1] == "done"


async def test_unknown_fields_are_ignored(clip: Clip, link: RememberingLink) -> None:
    await clip.says("ask", text="Hi", mood="good")

    assert link.kinds[-1] == "done"


async def test_an_old_question_is_stale_and_one_from_the_future_is_of_now(
    clip: Clip, link: RememberingLink, model: ScriptedModel
) -> None:
    old, future = clip.clock.now() - timedelta(minutes=6), clip.clock.now() + timedelta(days=400)
    for _ in range(3):
        # As a broker that keeps the message gives it at each connect.
        await clip.says("ask", at=old.isoformat(), text="Hi")

    assert [(m["type"], m["code"], m["ref"]) for m in link.messages] == [("error", "stale", "m1")] * 3
    assert model.prompts == []
    await clip.says("ask", "m2", at=future.isoformat(), text="Hi")
    assert link.kinds[-1] == "done"


async def test_other_messages_never_go_stale(clip: Clip, link: RememberingLink) -> None:
    old = clip.clock.now() - timedelta(hours=6)
    await clip.says("command_result", at=old.isoformat(), ref="c1", ok=True)

    assert link.kinds == ["accepted"]


@pytest.mark.parametrize("device", ["clip-2", "+", "#", ""])
async def test_an_unknown_device_is_not_heard(clip: Clip, link: RememberingLink, device: str) -> None:
    payload = json.dumps({"type": "ask", "id": "m1", "at": clip.clock.now().isoformat(), "text": "Hi"}).encode()
    await clip.sends(payload, device)

    assert link.messages == []


async def test_a_revoked_device_is_not_heard(
    clip: Clip, link: RememberingLink, caplog: pytest.LogCaptureFixture
) -> None:
    await clip.assistant.stores.devices.revoke("ana", "clip-1", clip.clock.now())
    with caplog.at_level(logging.WARNING):
        await clip.says("ask", text="Hi")

    assert link.messages == []
    assert "revoked" in caplog.text


async def test_a_recording_in_slices_is_heard_and_its_slices_are_gone(clip: Clip, link: RememberingLink) -> None:
    await clip.records()

    assert link.kinds[:3] == ["listening", "accepted", "transcript"]
    assert link.kinds[-1] == "done"
    assert await clip.assistant.stores.slices.numbers("clip-1", "u1") == []


async def test_a_missing_slice_is_asked_for_before_the_end_is_accepted(clip: Clip, link: RememberingLink) -> None:
    await clip.records(but=1)

    assert link.kinds == ["listening", "missing"]
    assert link.only("missing")["slices"] == [1]
    assert clip.clock.sleeps == [0.5]
    await clip.assistant.stores.slices.put("clip-1", "u1", 1, WAV[1::3])
    await clip.ends()
    assert link.kinds[-1] == "done"


async def test_the_end_of_a_recording_delivered_again_tells_its_outcome_again(
    clip: Clip, link: RememberingLink, model: ScriptedModel
) -> None:
    await clip.records()
    link.messages.clear()
    await clip.ends()

    assert link.kinds == ["accepted", "done"]
    assert len(model.prompts) == 1


async def test_a_recording_that_is_not_the_announced_one_starts_no_turn(
    clip: Clip, link: RememberingLink, model: ScriptedModel
) -> None:
    await clip.records(but=2)
    await clip.assistant.stores.slices.put("clip-1", "u1", 2, b"something else")
    await clip.ends()

    assert link.only("error")["code"] == "invalid_value"
    assert model.prompts == []


async def test_a_recording_that_never_began_and_bare_packets_are_refused(clip: Clip, link: RememberingLink) -> None:
    await clip.assistant.stores.slices.put("clip-1", "u1", 0, WAV)
    digest = hashlib.sha256(WAV).hexdigest()
    await clip.says("utterance_end", "m5", utterance="u1", slices=1, bytes=len(WAV), sha256=digest)
    assert link.only("error")["code"] == "not_found"

    link.messages.clear()
    await clip.says("utterance_start", "m6", utterance="u1", format="opus", sample_rate=16_000, channels=1)
    await clip.says("utterance_end", "m7", utterance="u1", slices=1, bytes=len(WAV), sha256=digest)
    assert link.only("error")["code"] == "unsupported_media"


async def test_a_cancelled_recording_is_forgotten(clip: Clip) -> None:
    await clip.records(but=1)
    await clip.says("utterance_cancel", "m3", utterance="u1")

    assert await clip.assistant.stores.slices.numbers("clip-1", "u1") == []


async def test_raw_samples_become_a_recording(clip: Clip, link: RememberingLink) -> None:
    pcm = bytes(3200)
    await clip.says("utterance_start", utterance="u1", format="pcm16", sample_rate=16_000, channels=1)
    await clip.assistant.stores.slices.put("clip-1", "u1", 0, pcm)
    digest = hashlib.sha256(pcm).hexdigest()
    await clip.says("utterance_end", "m2", utterance="u1", slices=1, bytes=len(pcm), sha256=digest)

    assert link.kinds[-1] == "done"


async def test_an_interruption_stops_the_turn_and_what_was_said_is_kept(clip: Clip, link: RememberingLink) -> None:
    clip.assistant.chat_model.seconds_a_token = 0.2  # type: ignore[attr-defined]  # the scripted one
    asking = asyncio.create_task(clip.says("ask", text="Hi"))
    while "route" not in link.kinds:
        await asyncio.sleep(0.01)
    await clip.says("interrupt", "m2", turn=link.only("route")["turn"], played_ms=10)
    await asking

    [conversation] = (await clip.assistant.conversations.page("ana")).items
    [turn] = await clip.assistant.conversations.turns(conversation)
    assert turn.interrupted


async def test_interrupting_a_turn_that_is_not_there_is_accepted(clip: Clip, link: RememberingLink) -> None:
    await clip.says("interrupt", turn="nothing", played_ms=0)

    assert link.kinds == ["accepted"]


async def test_a_model_that_is_down_is_one_error_of_the_turn(make_assistant: MakeAssistant, clip: Clip) -> None:
    clip.assistant.chat_model.scripts = ((ModelDown(),),)  # type: ignore[attr-defined]  # the scripted one
    await clip.says("ask", text="Hi")

    assert clip.link.only("error")["code"] == "model_down"
    assert clip.link.kinds[-1] == "error"


async def test_too_much_is_busy_with_the_time_to_wait(clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_: object) -> None:
        raise RateLimited(retry_after=7)

    monkeypatch.setattr(clip.assistant.turns, "take", refuse)
    await clip.says("ask", text="Hi")

    error = clip.link.only("error")
    assert (error["code"], error["retry_after"]) == ("busy", 7)


async def test_long_speech_comes_in_slices_numbered_through_the_turn(link: RememberingLink, clip: Clip) -> None:
    from tertulia.domain.audio import Sound

    long = Sound(bytes(SPEECH_BYTES + 2), 24_000).as_wav()
    spoke = [Spoke(seq=seq, text="…", audio=long, duration_ms=1) for seq in range(2)]

    async def events() -> Any:
        for number, event in enumerate(spoke, start=1):
            yield Numbered(number, event)

    down = Downlink(link=link, clock=clip.clock, device_id="clip-1")
    await DeviceReplies(down=down, turn_id="t1", wants_tokens=False).send(events())

    assert [(m["first"], m["slices"], m["bytes"]) for m in link.messages] == [(0, 2, len(long)), (2, 2, len(long))]
    assert b"".join(link.speech["t1", number] for number in (2, 3)) == long
    assert all(len(data) <= SPEECH_BYTES for data in link.speech.values())


@pytest.mark.parametrize("text", ["部" * 60_000, "a" * 131_073, '"\\' * 70_000, "😀" * 40_000])
def test_a_message_never_has_more_bytes_than_a_broker_takes(text: str) -> None:
    message: Mapping[str, Json] = {"type": "done", "id": "m", "response": text, "turn": "t1"}
    cut = fitting(message)

    assert len(downlink_to_json(cut)) <= MESSAGE_BYTES
    assert cut["cut"] is True
    assert text.startswith(cut["response"].removesuffix(" […]"))
    assert len(cut["response"]) > 20_000
    assert fitting({**message, "response": "short"}) == {**message, "response": "short"}


@pytest.mark.parametrize("bad", ["clip-1\n", "+", "#", "a/b", "$aws/things", "", "a" * 300, "Clip"])
def test_no_id_gains_a_level_or_a_wildcard_in_a_topic(bad: str) -> None:
    with pytest.raises(ValueError, match="topic"):
        down_topic(bad)
    with pytest.raises(ValueError, match="topic"):
        speech_topic(bad, "t1", 0)
    if bad != "Clip":
        with pytest.raises(ValueError, match="topic"):
            speech_topic("clip-1", bad, 0)
