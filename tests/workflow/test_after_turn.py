"""What follows a turn in the cloud: the shipped state machine over the shipped handlers and the real use cases."""

import threading

import pytest

from tertulia.domain.errors import ModelDown, ModelKey
from tertulia.domain.summaries import Match, Vector
from tertulia.domain.turns import Conversation
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import ME, a_turn
from tests.workflow.cloud import Cloud
from tests.workflow.machine import MOST_STATE_BYTES, state_sizes

TEA = "I like tea. Where do I find some?"
LISBON = "I live in Lisbon."


def name_of(conversation: Conversation, turn_id: str) -> str:
    return f"{conversation.id}-{turn_id}"


async def contents(cloud: Cloud, user: str = ME) -> set[str]:
    return {memory.content for memory in await cloud.assistant.memories.list(user)}


async def found_by(cloud: Cloud, text: str, user: str = ME) -> list[Match]:
    [values] = await cloud.assistant.embedder.embed([text])
    return await cloud.assistant.summaries.nearest(user, Vector(tuple(values), cloud.assistant.embedder.name), limit=5)


async def test_a_conversation_of_two_turns_is_remembered_summarized_and_found_again(cloud: Cloud) -> None:
    conversation = await cloud.talk(ME, [a_turn("t1", 1, text=TEA), a_turn("t2", 2, text=LISBON)])

    for turn in ("t1", "t2"):
        assert cloud.machine.ended(name_of(conversation, turn))["status"] == "SUCCEEDED"
    kept = await cloud.assistant.conversations.get(ME, conversation.id)
    assert kept.title == "Talk about I like tea"
    assert kept.overview == "They spoke of I like tea. Where do I find some?; I live in Lisbon.."
    assert [item.text for item in kept.action_items] == ["Buy tea"]
    assert await contents(cloud) == {"I like tea", "I live in Lisbon"}
    [match] = await found_by(cloud, kept.overview)
    assert (match.conversation_id, match.title) == (conversation.id, kept.title)
    assert await found_by(cloud, kept.overview, user="somebody-else") == []


async def test_one_turn_alone_is_remembered_and_not_summarized(cloud: Cloud) -> None:
    conversation = await cloud.talk(ME, [a_turn("t1", text=TEA)])

    assert cloud.machine.ended(name_of(conversation, "t1"))["status"] == "SUCCEEDED"
    assert await contents(cloud) == {"I like tea"}
    assert cloud.functions.called("load_turns") == 1
    assert cloud.functions.called("summarize") == cloud.functions.called("index_summary") == 0
    assert (await cloud.assistant.conversations.get(ME, conversation.id)).overview == ""


async def test_a_burst_of_turns_is_summarized_once_after_it_goes_quiet(cloud: Cloud) -> None:
    cloud.functions.gates["load_turns"] = threading.Event()
    conversation = await cloud.talk(ME, [a_turn(f"t{place}", place, text=f"Word {place}.") for place in range(1, 6)])
    cloud.functions.gates["load_turns"].set()

    for place in range(1, 6):
        assert cloud.machine.ended(name_of(conversation, f"t{place}"))["status"] == "SUCCEEDED"
    assert cloud.functions.called("load_turns") == 5
    assert cloud.functions.called("summarize") == cloud.functions.called("index_summary") == 1
    assert len(cloud.listener.digests) == 1
    kept = await cloud.assistant.conversations.get(ME, conversation.id)
    assert kept.overview == "They spoke of Word 1.; Word 2.; Word 3.; Word 4.; Word 5.."


async def test_a_talk_that_never_pauses_is_summarized_after_five_minutes_all_the_same(
    cloud: Cloud, clock: FakeClock
) -> None:
    cloud.functions.gates["load_turns"] = threading.Event()
    conversation = await cloud.talk(ME, [a_turn(f"t{place}", place) for place in (1, 2, 3)])
    clock.move(minutes=6)
    cloud.functions.gates["load_turns"].set()
    for place in (1, 2, 3):
        cloud.machine.ended(name_of(conversation, f"t{place}"))

    # The first that looks finds five minutes gone; the newest finds nothing new in it.
    assert len(cloud.listener.digests) == 1
    assert (await cloud.assistant.conversations.get(ME, conversation.id)).overview


async def test_a_step_that_fails_for_a_while_is_tried_again(cloud: Cloud) -> None:
    cloud.listener.failures += [ModelDown(), ModelDown()]

    conversation = await cloud.talk(ME, [a_turn("t1", 1), a_turn("t2", 2)])

    assert cloud.machine.ended(name_of(conversation, "t2"))["status"] == "SUCCEEDED"
    assert cloud.functions.called("summarize") == 3
    assert (await cloud.assistant.conversations.get(ME, conversation.id)).overview
    assert cloud.functions.called("extract_memories") == 2


async def test_what_a_person_must_mend_fails_is_recorded_and_run_again_by_command(cloud: Cloud) -> None:
    cloud.listener.failures += [ModelKey("the key gsk_secret is wrong"), ModelKey("still")]
    conversation = await cloud.talk(ME, [a_turn("t1", 1, text=TEA), a_turn("t2", 2, text=LISBON)])
    execution = name_of(conversation, "t2")
    cloud.machine.ended(name_of(conversation, "t1"))

    ended = cloud.machine.ended(execution)
    assert ended["status"] == "FAILED"
    assert "gsk_secret" not in str(cloud.machine.history(execution))
    assert cloud.functions.called("summarize") == 1
    cloud.functions("record_failure", cloud.failure(execution))
    cloud.functions("record_failure", cloud.failure(execution))
    failures = cloud.assistant.failed_follow_ups
    [failure] = await failures.failed()
    assert (failure.user, failure.conversation_id, failure.turn_id) == (ME, conversation.id, "t2")
    assert (failure.step, failure.error) == ("after_turn", "model_key")

    # Not yet mended: it fails again, and is recorded again.
    assert await failures.retry("t2")
    assert await failures.failed() == []
    assert not await failures.retry("t2")
    assert cloud.machine.ended(f"{execution}-retry-1")["status"] == "FAILED"
    cloud.functions("record_failure", cloud.failure(f"{execution}-retry-1"))
    assert len(await failures.failed()) == 1

    assert await failures.retry("t2")
    assert cloud.machine.ended(f"{execution}-retry-2")["status"] == "SUCCEEDED"
    assert await failures.failed() == []
    assert (await cloud.assistant.conversations.get(ME, conversation.id)).overview
    assert await contents(cloud) == {"I like tea", "I live in Lisbon"}
    assert not await failures.retry("a-turn-that-never-failed")


async def test_the_same_trigger_twice_makes_one_summary_and_the_second_start_is_success(cloud: Cloud) -> None:
    turns = [a_turn("t1", 1), a_turn("t2", 2)]
    conversation = await cloud.talk(ME, turns)
    await cloud.assistant.follow_up.start(conversation, turns[1])
    cloud.machine.ended(name_of(conversation, "t1"))
    cloud.machine.ended(name_of(conversation, "t2"))
    await cloud.assistant.follow_up.start(conversation, turns[1])

    assert len(cloud.machine.names()) == 2
    assert cloud.functions.called("summarize") <= 2
    assert len(cloud.listener.digests) == 1
    assert await cloud.assistant.failed_follow_ups.failed() == []


@pytest.mark.parametrize(
    ("text", "count"),
    [("All work and no play. " * 450, 32), ("你" * 10_000, 9)],
    ids=["300 KB", "90,000 Chinese characters"],
)
async def test_a_very_long_conversation_is_summarized_and_no_state_comes_near_the_limit(
    cloud: Cloud, text: str, count: int
) -> None:
    conversation = await cloud.assistant.conversations.open(ME, None)
    turns = [a_turn(f"t{place}", place, text=text) for place in range(1, count + 1)]
    assert sum(len(turn.text.encode()) for turn in turns) > MOST_STATE_BYTES
    for turn in turns:
        await cloud.assistant.conversations.append(conversation, turn)

    await cloud.assistant.follow_up.start(conversation, turns[-1])

    execution = name_of(conversation, turns[-1].id)
    assert cloud.machine.ended(execution)["status"] == "SUCCEEDED"
    sizes = state_sizes(cloud.machine.history(execution))
    assert len(sizes) > 10
    assert max(sizes) < 1_000 < MOST_STATE_BYTES
    kept = await cloud.assistant.conversations.get(ME, conversation.id)
    assert kept.overview
    assert kept.summarized_number == turns[-1].answer_number


async def test_a_conversation_deleted_meanwhile_is_no_failure_and_leaves_nothing(cloud: Cloud) -> None:
    cloud.functions.gates["load_turns"] = threading.Event()
    conversation = await cloud.talk(ME, [a_turn("t1", 1), a_turn("t2", 2)])
    await cloud.assistant.conversations.delete(conversation)
    cloud.functions.gates["load_turns"].set()

    assert cloud.machine.ended(name_of(conversation, "t2"))["status"] == "SUCCEEDED"
    assert cloud.functions.called("summarize") == 0


async def test_a_state_that_says_too_little_fails_at_once(cloud: Cloud) -> None:
    cloud.machine.client.start_execution(stateMachineArn=cloud.machine.arn, name="broken", input='{"quiet_seconds": 0}')

    assert cloud.machine.ended("broken")["status"] == "FAILED"
    assert cloud.functions.called("extract_memories") <= 1
