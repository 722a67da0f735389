"""One turn, whatever its surface: what it yields, and what of it is kept."""

import asyncio
from datetime import UTC, datetime

import pytest

from tertulia.domain.audio import HearingOutcome
from tertulia.domain.errors import (
    KeyReused,
    ModelBusy,
    ModelMissing,
    NotFound,
    ProviderFailed,
    Unavailable,
)
from tertulia.domain.memories import Memory
from tertulia.domain.replies import Done, Failed, MemoriesUsed, Numbered, RouteChosen, Spoke, Token, Transcribed
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import Attachment, Conversation, Turn
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedMemories, ScriptedModel, ScriptedTranscriber, ToneVoice
from tests.turns import USER, done_of, events_of, failure_of, request, words_of


async def kept(assistant: object, conversation_id: str) -> list[Turn]:
    conversation = await assistant.conversations.get(USER, conversation_id)  # type: ignore[attr-defined]
    turns: list[Turn] = await assistant.conversations.turns(conversation)  # type: ignore[attr-defined]
    return turns


async def test_a_typed_turn_streams_its_tokens_and_ends_with_done(make_assistant: MakeAssistant) -> None:
    events = await events_of(make_assistant(), request("Hi"))
    assert isinstance(events[0], RouteChosen)
    assert isinstance(events[-1], Done)
    assert words_of(events) == events[-1].response == "Hello there."
    assert events[-1].receipt.stages.keys() >= {"recall", "route", "first_token", "model", "total"}


async def test_done_comes_only_after_the_turn_is_stored(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    taken = await assistant.turns.take(request("Hi"))
    async for numbered in taken.events():
        if isinstance(numbered.event, Done):
            [turn] = await kept(assistant, taken.conversation_id)
            assert (turn.text, turn.answer) == ("Hi", "Hello there.")
            assert turn.receipt == numbered.event.receipt


async def test_the_second_turn_knows_the_first(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    assistant = make_assistant(chat_model=model)
    first = await done_of(assistant, request("My name is Lena"))
    await done_of(assistant, request("Who am I?", conversation_id=first.conversation_id))
    told = [message.text for message in model.prompts[1].messages]
    assert told[1:3] == ["My name is Lena", "Hello there."]
    assert told[-1].endswith("Who am I?")


async def test_reasoning_split_over_chunks_reaches_nobody(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([["<thi", "nk>secret plan</th", "ink>\n\nHel", "lo"]])
    assistant = make_assistant(chat_model=model)
    events = await events_of(assistant, request("Hi", speak=True))
    assert words_of(events) == "Hello"
    assert "secret" not in repr(events)
    [turn] = await kept(assistant, events[-1].conversation_id)  # type: ignore[union-attr]
    assert turn.answer == "Hello"


async def test_two_at_once_with_one_key_are_one_turn(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel(seconds_a_token=0.02)
    assistant = make_assistant(chat_model=model)
    asked = [request("Hi", client_message_id="tap") for _ in range(2)]
    first, second = await asyncio.gather(*(done_of(assistant, one) for one in asked))
    third = await done_of(assistant, request("Hi", client_message_id="tap"))
    assert first.turn_id == second.turn_id == third.turn_id
    assert first.response == third.response
    assert len(model.prompts) == 1
    assert len(await kept(assistant, first.conversation_id)) == 1


async def test_a_key_used_for_another_question_is_refused(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    await done_of(assistant, request("Hi", client_message_id="k"))
    with pytest.raises(KeyReused):
        await assistant.turns.take(request("Bye", client_message_id="k"))


async def test_a_client_that_leaves_stops_the_model_and_what_was_said_is_kept(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([["one "] * 500, ["Fine."]], seconds_a_token=0.01)
    assistant = make_assistant(chat_model=model)
    taken = await assistant.turns.take(request("Count"))
    heard = 0
    listening = taken.events()
    async for numbered in listening:
        heard += isinstance(numbered.event, Token)
        if heard == 3:
            break
    await listening.aclose()  # type: ignore[attr-defined]
    taken.leave()
    async with asyncio.timeout(1):
        while not model.stopped:
            await asyncio.sleep(0.01)
    next_turn = await done_of(assistant, request("And now?", conversation_id=taken.conversation_id))
    interrupted, answered = await kept(assistant, taken.conversation_id)
    assert interrupted.interrupted
    assert interrupted.answer.startswith("one one one")
    assert answered.answer == next_turn.response == "Fine."


async def test_the_next_question_need_not_wait_for_the_first_answer(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(chat_model=ScriptedModel(seconds_a_token=0.05))
    first = await assistant.turns.take(request("One"))
    second = await done_of(assistant, request("Two", conversation_id=first.conversation_id))
    assert [numbered async for numbered in first.events()]
    assert [turn.text for turn in await kept(assistant, second.conversation_id)] == ["One", "Two"]


async def test_a_turn_stops_when_asked_here_or_in_another_process(make_assistant: MakeAssistant) -> None:
    for ask in ("desk", "store"):
        model = ScriptedModel([["word "] * 1000], seconds_a_token=0.01)
        assistant = make_assistant(chat_model=model)
        taken = await assistant.turns.take(request("Talk"))
        async with asyncio.timeout(2):
            async for numbered in taken.events():
                if isinstance(numbered.event, Token) and numbered.number < 4:
                    if ask == "desk":
                        await assistant.turns.stop(USER, taken.turn_id)
                    else:
                        await assistant.events.ask_to_stop(USER, taken.turn_id)
        assert isinstance(numbered.event, Done)
        assert numbered.event.interrupted
        assert model.stopped == 1


async def test_stopping_a_strangers_turn_finds_nothing(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    done = await done_of(assistant, request("Hi"))
    with pytest.raises(NotFound):
        await assistant.turns.stop("user-2", done.turn_id or "")
    await assistant.turns.stop(USER, done.turn_id or "")


@pytest.mark.parametrize(
    ("language", "start"), [("en-US", "T"), ("de", ""), ("pt-BR", "")], ids=["English", "German", "Portuguese"]
)
async def test_a_failing_model_is_one_plain_sentence_and_the_words_are_kept(
    make_assistant: MakeAssistant, language: str, start: str
) -> None:
    assistant = make_assistant(chat_model=ScriptedModel([[ModelMissing("secret detail")]]))
    asked = request("Hi", language=language)
    taken = await assistant.turns.take(asked)
    failed = [numbered.event async for numbered in taken.events()][-1]
    assert isinstance(failed, Failed)
    assert failed.code == "model_missing"
    assert "secret" not in failed.message
    assert failed.message.startswith(start)
    [turn] = await kept(assistant, taken.conversation_id)
    assert (turn.text, turn.answer, turn.error) == ("Hi", "", "model_missing")


async def test_a_defect_is_told_and_logged_and_the_words_are_kept(
    make_assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    assistant = make_assistant(chat_model=ScriptedModel([[KeyError("a secret")], ["Fine."]]))
    taken = await assistant.turns.take(request("Hi"))
    [*_, failed] = [numbered.event async for numbered in taken.events()]
    assert isinstance(failed, Failed)
    assert failed.code == "internal"
    assert "secret" not in failed.message
    [turn] = await kept(assistant, taken.conversation_id)
    assert (turn.text, turn.error) == ("Hi", "internal")
    assert (await done_of(assistant, request("And now?"))).response == "Fine."
    assert "a turn ended in a defect" in caplog.text


async def test_a_file_without_words_is_a_question_too(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([["Two plums."]])
    assistant = make_assistant(chat_model=model)
    file = Attachment(name="list.txt", media_type="text/plain", size=9, text="two plums")
    done = await done_of(assistant, request("", attachments=(file,)))
    assert done.turn_id
    [turn] = await kept(assistant, done.conversation_id)
    assert turn.attachments == (file,)
    assert "two plums" in model.prompts[0].messages[-1].text


async def test_the_retry_of_a_failed_turn_takes_its_place(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(chat_model=ScriptedModel([[ProviderFailed()], ["Better."]]))
    taken = await assistant.turns.take(request("Hi", client_message_id="k"))
    assert isinstance([n.event async for n in taken.events()][-1], Failed)
    again = await assistant.turns.take(request("Hi", client_message_id="k"))
    ended = [n.event async for n in again.events()][-1]
    assert isinstance(ended, Done)
    assert again.turn_id == taken.turn_id
    [turn] = await kept(assistant, again.conversation_id)
    assert (turn.answer, turn.error) == ("Better.", None)


async def test_a_failed_turn_is_left_out_of_the_next_prompt(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[ProviderFailed()], ["Yes."]])
    assistant = make_assistant(chat_model=model)
    taken = await assistant.turns.take(request("Lost words"))
    async for _ in taken.events():
        pass
    await done_of(assistant, request("Hear me?", conversation_id=taken.conversation_id))
    assert not any("Lost words" in message.text for message in model.prompts[-1].messages)


async def test_a_refused_turn_leaves_nothing_and_gives_its_key_back(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(chat_model=ScriptedModel([[ModelBusy(retry_after=7.2)], ["Now."]]))
    failed = await failure_of(assistant, request("Hi", client_message_id="k"))
    assert failed.code == "model_busy"
    assert failed.retry_after == pytest.approx(7.2)
    assert "8" in failed.message
    page = await assistant.conversations.page(USER)
    assert page.items == ()
    assert (await done_of(assistant, request("Hi", client_message_id="k"))).response == "Now."


async def test_a_full_disk_is_told_and_the_next_turn_works(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    append = assistant.conversations.append

    async def full(conversation: Conversation, turn: Turn) -> None:
        raise Unavailable("The disk is full.")

    assistant.conversations.append = full  # type: ignore[method-assign]
    failed = await failure_of(assistant, request("Hi", client_message_id="k"))
    assert (failed.code, failed.message) == ("unavailable", "The disk is full.")
    assistant.conversations.append = append  # type: ignore[method-assign]
    assert (await done_of(assistant, request("Hi", client_message_id="k"))).response == "Hello there."


async def test_the_turn_ends_at_its_deadline_with_what_there_is(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    model = ScriptedModel([["Yes."], ["so ", "on "] * 500], seconds_a_token=0.02)
    assistant = make_assistant(settings.model_copy(update={"turn_seconds": 0.5}), chat_model=model)
    await done_of(assistant, request("Short"))
    done = await done_of(assistant, request("Forever"))
    assert done.interrupted
    assert "deadline" in done.receipt.degraded
    assert done.response.startswith("so on")


def memory(content: str, created_at: datetime = datetime(2026, 8, 30, tzinfo=UTC)) -> Memory:
    return Memory(id=content[:8], user=USER, content=content, created_at=created_at)


async def test_memories_stand_apart_from_the_users_words_and_are_not_stored_with_them(
    make_assistant: MakeAssistant,
) -> None:
    model = ScriptedModel()
    assistant = make_assistant(chat_model=model, memories=ScriptedMemories([memory("likes tea")]))
    events = await events_of(assistant, request("plan my day"))
    assert MemoriesUsed(ids=("likes te",)) in events
    parts = model.prompts[0].messages[-1].parts
    assert parts[-1] == "plan my day"
    assert "likes tea (created 2026-08-30)" in parts[-2]
    [turn] = await kept(assistant, events[-1].conversation_id)  # type: ignore[union-attr]
    assert turn.text == "plan my day"
    assert turn.receipt.memories_used == 1


async def test_a_late_recall_is_told_and_joins_the_next_turn(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel(seconds_to_first=0.1)
    memories = ScriptedMemories([memory("allergic to nuts")], seconds=0.2)
    assistant = make_assistant(chat_model=model, memories=memories)
    first = await done_of(assistant, request("What can I eat?"))
    assert first.receipt.degraded == ("memories: late",)
    assert first.receipt.memories_used == 0
    memories.memories, memories.seconds = (), 0.0
    await asyncio.sleep(0.2)
    second = await done_of(assistant, request("And now?", conversation_id=first.conversation_id))
    assert second.receipt.memories_used == 1
    assert "allergic to nuts" in model.prompts[-1].messages[-1].text


async def test_a_failing_recall_costs_the_memories_only(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(memories=ScriptedMemories(error=Unavailable()))
    done = await done_of(assistant, request("Hi"))
    assert done.response == "Hello there."
    assert done.receipt.degraded == ("memories",)


async def test_silence_is_no_turn(make_assistant: MakeAssistant) -> None:
    model, voice = ScriptedModel(), ToneVoice()
    ear = ScriptedTranscriber(text="", outcome=HearingOutcome.SILENCE)
    assistant = make_assistant(chat_model=model, synthesizer=voice, transcriber=ear)
    events = await events_of(assistant, request("", audio=b"RIFF", speak=True))
    heard, done = events
    assert isinstance(heard, Transcribed)
    assert (heard.text, heard.outcome) == ("", "silence")
    assert isinstance(done, Done)
    assert (done.response, done.turn_id) == ("", None)
    assert not model.prompts
    assert not voice.said
    assert (await assistant.conversations.page(USER)).items == ()


async def test_a_spoken_turn_is_heard_answered_and_spoken(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([["Paris is", " the capital. ", "It lies on", " the Seine."]])
    assistant = make_assistant(chat_model=model)
    events = await events_of(assistant, request("", audio=b"RIFF", speak=True))
    spoken = [event for event in events if isinstance(event, Spoke)]
    assert [one.seq for one in spoken] == list(range(len(spoken)))
    assert " ".join(one.text.strip() for one in spoken) == "Paris is the capital. It lies on the Seine."
    done = events[-1]
    assert isinstance(done, Done)
    assert done.receipt.stages.keys() >= {"transcribe", "first_speech"}
    assert done.receipt.models.keys() >= {"transcribe", "speech", "simple"}
    assert done.receipt.audio_seconds == 1.0


async def test_a_failed_voice_never_loses_the_text(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(synthesizer=ToneVoice(error=ProviderFailed()))
    done = await done_of(assistant, request("Hi", speak=True))
    assert done.response == "Hello there."
    assert "speech" in done.receipt.degraded


async def test_five_turns_of_one_user_run_four_at_a_time(make_assistant: MakeAssistant) -> None:
    class Counting(ScriptedModel):
        running = most = 0

        async def stream(self, *asked):  # type: ignore[no-untyped-def]
            self.running += 1
            self.most = max(self.most, self.running)
            async for event in super().stream(*asked):
                yield event
            self.running -= 1

    model = Counting(seconds_a_token=0.02)
    assistant = make_assistant(chat_model=model)
    await asyncio.gather(*(done_of(assistant, request("Hi")) for _ in range(6)))
    assert model.most == 4


async def test_a_turn_is_replayed_from_any_event(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    taken = await assistant.turns.take(request("Hi", speak=True))
    live = [numbered async for numbered in taken.events()]
    await assistant.turns.close()
    for after in range(len(live)):
        replayed = [numbered async for numbered in assistant.turns.watch(USER, taken.turn_id, after)]
        assert [one.number for one in replayed] == [one.number for one in live[after:]]
        assert [_silent(one) for one in replayed] == [_silent(one) for one in live[after:]]


def _silent(numbered: Numbered) -> object:
    if isinstance(numbered.event, Spoke):
        return numbered.event.seq, numbered.event.text
    return numbered.event


async def test_a_replay_of_anothers_turn_finds_nothing(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    done = await done_of(assistant, request("Hi"))
    with pytest.raises(NotFound):
        await anext(assistant.turns.watch("user-2", done.turn_id or ""))


async def test_anothers_conversation_cannot_be_continued(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    done = await done_of(assistant, request("Hi"))
    for conversation_id in (done.conversation_id, "abc123"):
        with pytest.raises(NotFound):
            await assistant.turns.take(request("Hi", user="user-2", conversation_id=conversation_id))


async def test_the_persona_route_discards_the_answer_begun_early(make_assistant: MakeAssistant) -> None:
    from tests.fakes.scripted import ScriptedClassifier

    model = ScriptedModel([["begun ", "early"], ["Arr!"]], runs_side_by_side=True, seconds_a_token=0.01)
    assistant = make_assistant(chat_model=model, classifier=ScriptedClassifier(Route.PERSONA, seconds=0.05))
    done = await done_of(assistant, request("Talk like a pirate"))
    assert done.response == "Arr!"
    assert len(model.prompts) == 2


async def test_the_simple_route_adopts_the_answer_begun_early(make_assistant: MakeAssistant) -> None:
    from tests.fakes.scripted import ScriptedClassifier

    model = ScriptedModel(runs_side_by_side=True)
    assistant = make_assistant(chat_model=model, classifier=ScriptedClassifier(Route.SIMPLE, seconds=0.05))
    assert (await done_of(assistant, request("Hi"))).response == "Hello there."
    assert len(model.prompts) == 1


async def test_an_answer_begun_early_without_memories_is_written_anew_with_them(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    model = ScriptedModel([["without"], ["with"]], runs_side_by_side=True)
    memories = ScriptedMemories([memory("likes tea")], seconds=0.4)
    patient = settings.model_copy(update={"recall_seconds": 5.0})
    assistant = make_assistant(patient, chat_model=model, memories=memories)
    done = await done_of(assistant, request("Hi"))
    assert done.response == "with"
    assert done.receipt.memories_used == 1
    assert len(model.prompts) == 2


async def test_memories_that_come_first_need_no_second_beginning(
    make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(runs_side_by_side=True)
    assistant = make_assistant(chat_model=model, memories=ScriptedMemories([memory("likes tea")]))

    async def recent_but_slow(*_: object) -> list[Turn]:
        await asyncio.sleep(0.1)
        return []

    monkeypatch.setattr(assistant.conversations, "recent", recent_but_slow)
    assert (await done_of(assistant, request("Hi"))).receipt.memories_used == 1
    assert len(model.prompts) == 1


async def test_secrets_never_reach_the_model_or_the_store(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    assistant = make_assistant(chat_model=model)
    key = "gsk_" + "a1B2" * 12
    done = await done_of(assistant, request(f"My key is {key}, remember"))
    [turn] = await kept(assistant, done.conversation_id)
    assert key not in model.prompts[0].messages[-1].text
    assert turn.text == "My key is [REDACTED], remember"
