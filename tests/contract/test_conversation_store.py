"""What every conversation store promises."""

import asyncio
import math
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tertulia.domain.errors import NotFound
from tertulia.domain.messages import messages_of
from tertulia.domain.replies import Receipt
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import Attachment, ToolUse, Turn
from tertulia.ports import ConversationStore
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import ME, a_failed_turn, a_turn, begun, tokens

STRANGER = "stranger"


@pytest.fixture
def store(stores: Stores) -> ConversationStore:
    return stores.conversations


async def test_a_new_conversation_has_an_id_of_16_hex_digits_and_its_device(store: ConversationStore) -> None:
    conversation = await store.open(ME, None, "clip-1")
    assert re.fullmatch(r"[0-9a-f]{16}", conversation.id)
    assert (conversation.user, conversation.device_id, conversation.message_count) == (ME, "clip-1", 0)


async def test_an_unanswered_opening_leaves_nothing_behind(store: ConversationStore) -> None:
    conversation = await store.open(ME, None)
    with pytest.raises(NotFound):
        await store.get(ME, conversation.id)
    assert (await store.page(ME)).items == ()


async def test_the_first_turn_stores_the_conversation(store: ConversationStore, clock: FakeClock) -> None:
    opened = await store.open(ME, None, "clip-1")
    clock.move(seconds=3)
    await store.append(opened, a_turn(text="What   is\nthe weather in Lisbon, please, today and tomorrow? " + "x" * 90))
    stored = await store.open(ME, opened.id)
    assert stored == replace(
        opened,
        updated_at=clock.now(),
        title="What is the weather in Lisbon, please, today and t",
        message_count=2,
        last_message=stored.last_message,
    )
    assert stored.last_message.startswith("What   is\nthe weather")
    assert len(stored.last_message) == 100


async def test_unknown_ids_and_those_of_other_users_look_the_same(store: ConversationStore) -> None:
    mine = await begun(store)
    for user, conversation_id in ((STRANGER, mine.id), (ME, "0" * 16)):
        for reach in (store.get, store.open):
            with pytest.raises(NotFound) as refused:
                await reach(user, conversation_id)
            assert refused.value.message == NotFound.default_message


async def test_a_stranger_finds_lists_and_deletes_nothing_of_mine(store: ConversationStore) -> None:
    mine = await begun(store)
    assert await store.find_turn(STRANGER, "t1") is None
    assert await store.page(STRANGER) == replace(await store.page(STRANGER), items=(), cursor=None, total=0)
    assert await store.delete_all(STRANGER) == 0
    forged = replace(mine, user=STRANGER)
    await store.delete(forged)
    with pytest.raises(NotFound):
        await store.append(forged, a_turn("t2", 2))
    assert await store.recent(forged, 10) == []
    assert await store.turns(forged) == []
    assert await store.recent(mine, 10) == [a_turn()]


async def test_every_field_of_a_turn_comes_back(store: ConversationStore) -> None:
    turn = a_turn(
        text="部署方案? \x00 😀",
        route=Route.CONTEXT,
        tools=(ToolUse(call_id="c", name="calculator", arguments={"a": [1, 2.5]}, result="3.5", ok=False, ms=12),),
        receipt=Receipt(stages={"total": 1200}, models={"answer": "small"}, audio_seconds=1.5, degraded=("recall",)),
        memories_used=("m1",),
        attachments=(Attachment(name="Ü.pdf", media_type="application/pdf", size=9, text="words", key="a/b"),),
        surface="sidebar",
        device_id="clip-1",
        interrupted=True,
    )
    conversation = await begun(store, turn)
    assert await store.turns(conversation) == [turn]
    assert await store.find_turn(ME, "t1") == (conversation, turn)
    assert conversation.message_count == 3


async def test_numbers_in_tool_results_stay_equal_and_what_is_no_number_becomes_null(store: ConversationStore) -> None:
    arguments = {"p": 30.40, "list": [0.1, {"x": 1e-7}], "nan": math.nan, "inf": -math.inf, "big": 12345678901234567890}
    turn = a_turn(tools=(ToolUse(call_id="c", name="n", arguments=arguments, result="r"),))
    [stored] = await store.turns(await begun(store, turn))
    assert stored.tools[0].arguments == {**arguments, "nan": None, "inf": None}


async def test_half_of_a_surrogate_pair_loses_no_turn(store: ConversationStore) -> None:
    tool = ToolUse(call_id="c", name="n", arguments={"a": "\udc00"}, result="ok \ud83d")
    conversation = await begun(store, a_turn(text="a\ud800b", answer="c\udfff", tools=(tool,)))
    [stored] = await store.recent(conversation, 1)
    assert (stored.text, stored.answer, stored.tools[0].result) == ("a?b", "c?", "ok ?")
    assert (conversation.title, conversation.last_message) == ("a?b", "a?b")


async def test_the_same_turn_twice_is_kept_once_and_as_it_was(store: ConversationStore, clock: FakeClock) -> None:
    conversation = await begun(store)
    clock.move(minutes=1)
    await store.append(conversation, a_turn(answer="another answer"))
    assert await store.recent(conversation, 10) == [a_turn()]
    assert await store.get(ME, conversation.id) == conversation


async def test_a_failed_turn_is_replaced_by_its_retry(store: ConversationStore, clock: FakeClock) -> None:
    conversation = await begun(store, a_failed_turn(text="first words"))
    assert (conversation.message_count, await store.recent(conversation, 10)) == (1, [])
    clock.move(seconds=5)
    retry = a_turn(place=3, text="words again", answered_at=clock.now())
    await store.append(conversation, retry)
    after = await store.get(ME, conversation.id)
    assert await store.turns(conversation) == [retry]
    assert (after.message_count, after.last_message, after.title) == (2, "words again", "first words")
    assert after.updated_at == clock.now()


async def test_a_retry_in_a_new_conversation_leaves_no_empty_one_behind(store: ConversationStore) -> None:
    first = await begun(store, a_failed_turn())
    second = await begun(store, a_turn(text="again"))
    assert (await store.page(ME)).items == (second,)
    assert await store.turns(first) == []
    assert second.message_count == 2


async def test_a_retry_elsewhere_takes_only_itself_out_of_a_conversation(store: ConversationStore) -> None:
    first = await begun(store, a_turn("t1", 1), a_failed_turn("t2", 2))
    await begun(store, a_turn("t2", 3))
    assert (await store.get(ME, first.id)).message_count == 2
    assert await store.turns(first) == [a_turn("t1", 1)]


async def test_recent_are_the_last_whole_turns_oldest_first(store: ConversationStore) -> None:
    turns = [a_turn(f"t{place}", place) for place in range(1, 8)]
    conversation = await begun(
        store, turns[4], *turns[:4], a_failed_turn("t0", 9), a_turn("t8", 8, answer=""), *turns[5:]
    )
    assert await store.recent(conversation, 3) == turns[4:]
    assert await store.recent(conversation, 100) == turns
    assert conversation.last_message == "question t0"


async def test_turns_of_one_number_are_ordered_by_id(store: ConversationStore) -> None:
    conversation = await begun(store, a_turn("b", 1), a_turn("a", 1))
    assert [turn.id for turn in await store.turns(conversation)] == ["a", "b"]
    assert [turn.id for turn in await store.recent(conversation, 1)] == ["b"]


@pytest.mark.parametrize("limit", [0, -1])
async def test_no_limit_means_everything(store: ConversationStore, limit: int) -> None:
    conversation = await begun(store)
    assert await store.recent(conversation, limit) == []
    assert await store.turns(conversation, limit=limit) == []
    assert len((await store.page(ME, limit=limit)).items) == 1


async def test_turns_after_a_number_are_those_with_later_messages(store: ConversationStore) -> None:
    whole, unanswered, later = a_turn("t1", 1), a_failed_turn("t2", 2), a_turn("t3", 3)
    conversation = await begun(store, whole, unanswered, later)
    assert await store.turns(conversation, whole.answer_number - 1) == [whole, unanswered, later]
    assert await store.turns(conversation, whole.answer_number) == [unanswered, later]
    assert await store.turns(conversation, unanswered.number) == [later]
    assert await store.turns(conversation, later.answer_number) == []
    assert await store.turns(conversation, limit=2) == [whole, unanswered]


async def test_turn_numbers_up_to_2_to_the_53_keep_their_order(store: ConversationStore) -> None:
    high, higher = a_turn("a", number=2**53 - 32), a_turn("b", number=2**53 - 16)
    conversation = await begun(store, higher, a_turn("c", 1), high)
    assert [turn.id for turn in await store.recent(conversation, 10)] == ["c", "a", "b"]


async def test_a_long_conversation_and_a_huge_turn_are_kept_whole(store: ConversationStore) -> None:
    huge = a_failed_turn("huge", 0, text="部" * 140_000)
    conversation = await begun(
        store, huge, *(a_turn(f"t{place:03d}", place, answer="x" * 12_000) for place in range(1, 101))
    )
    assert [turn.number // 16 for turn in await store.turns(conversation)] == list(range(101))
    retry = replace(huge, answer="案" * 140_000, error=None, answered_at=huge.answered_at.replace(minute=1))
    await store.append(conversation, retry)
    assert (await store.recent(conversation, 101))[0] == retry
    assert (await store.get(ME, conversation.id)).message_count == 202
    await store.delete(conversation)
    assert await store.find_turn(ME, "huge") is None


async def test_a_deleted_conversation_is_gone_with_its_turns_and_events(stores: Stores) -> None:
    store = stores.conversations
    mine, kept = await begun(store, a_turn("t1"), a_turn("t2", 2)), await begun(store, a_turn("t3"))
    for turn_id in ("t1", "t3"):
        await stores.events.begin(ME, turn_id)
        await stores.events.write(turn_id, tokens("secret"))
    await store.delete(mine)
    await store.delete(mine)
    with pytest.raises(NotFound):
        await store.get(ME, mine.id)
    with pytest.raises(NotFound):
        await stores.events.read(ME, "t1")
    assert await store.turns(mine) == []
    assert await store.find_turn(ME, "t2") is None
    assert (await store.page(ME)).items == (kept,)
    assert await stores.events.read(ME, "t3") == tokens("secret")


async def test_a_turn_that_ends_after_the_deletion_brings_nothing_back(store: ConversationStore) -> None:
    conversation = await begun(store)
    await store.delete(conversation)
    with pytest.raises(NotFound):
        await store.append(conversation, a_turn("t2", 2))
    assert (await store.page(ME)).items == ()


async def test_all_conversations_of_a_user_are_deleted_at_once(store: ConversationStore) -> None:
    for turn_id in ("a", "b", "c"):
        await begun(store, a_turn(turn_id))
    others = await begun(store, a_turn("d"), user=STRANGER)
    assert await store.delete_all(ME) == 3
    assert (await store.page(ME)).total == 0
    assert await store.find_turn(ME, "a") is None
    assert (await store.page(STRANGER)).items == (others,)


async def test_turns_appended_side_by_side_are_all_counted(store: ConversationStore) -> None:
    conversation = await begun(store, a_turn("t0", 0))
    await asyncio.gather(*(store.append(conversation, a_turn(f"t{place}", place)) for place in range(1, 5)))
    assert (await store.get(ME, conversation.id)).message_count == 10
    assert [turn.id for turn in await store.recent(conversation, 9)] == ["t0", "t1", "t2", "t3", "t4"]


_APPENDS = st.lists(
    st.builds(
        lambda turn_id, place, answer, error: a_turn(turn_id, place, answer=answer, error=error),
        st.sampled_from("abcd"),
        st.integers(0, 3),
        st.sampled_from(["", "yes"]),
        st.sampled_from([None, "model_down"]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(appended=_APPENDS, limit=st.integers(1, 4))
async def test_any_appends_leave_what_a_plain_dictionary_would(
    store: ConversationStore, clock: FakeClock, appended: list[Turn], limit: int
) -> None:
    user, kept = f"user {clock.now().timestamp()}", dict[str, Turn]()
    clock.move(seconds=1)
    conversation = await store.open(user, None)
    for turn in appended:
        await store.append(conversation, turn)
        if turn.id not in kept or kept[turn.id].error:
            kept[turn.id] = turn
    ordered = sorted(kept.values(), key=lambda turn: (turn.number, turn.id))
    assert await store.turns(conversation) == ordered
    assert await store.recent(conversation, limit) == [turn for turn in ordered if turn.is_whole][-limit:]
    assert (await store.get(user, conversation.id)).message_count == sum(len(list(messages_of(t))) for t in ordered)
