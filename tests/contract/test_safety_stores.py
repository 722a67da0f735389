"""What every store of waiting steps, and every journal of actions, promises."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from ulid import ULID

from tertulia.adapters.aws.dynamodb import Key
from tertulia.adapters.aws.stores import AwsStores
from tertulia.domain.actions import Action, NotUndoable
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.effects import UndoStep
from tertulia.domain.errors import InvalidValue, NotFound
from tertulia.ports.safety import ConfirmationStore, Journal
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock


@pytest.fixture
def steps(stores: Stores) -> ConfirmationStore:
    return stores.confirmations


@pytest.fixture
def journal(stores: Stores) -> Journal:
    return stores.journal


@pytest.fixture
def step(clock: FakeClock) -> Confirmation:
    return Confirmation(
        id=new_id(clock),
        user="me",
        tool="delete_todo",
        arguments={"title": '牛奶 "x" {y}', "many": [1, None, {"deep": True}]},
        question="Shall I?",
        language="zh-CN",
        asked_at=clock.now(),
        conversation_id="c1",
        turn_id="t1",
        timezone="Asia/Shanghai",
    )


def new_id(clock: FakeClock) -> str:
    return str(ULID.from_datetime(clock.now())).lower()


def action(clock: FakeClock, **fields: object) -> Action:
    clock.move(seconds=1)
    usual = {"id": new_id(clock), "user": "me", "tool": "add_todo", "summary": "Milk", "at": clock.now()}
    undo = UndoStep(tool="delete_todo", arguments={"id": 7})
    return replace(Action(**usual, conversation_id="c1", turn_id="t1", undo=undo), **fields)  # type: ignore[arg-type]


async def test_a_step_waits_and_is_handed_out_as_it_was_asked(steps: ConfirmationStore, step: Confirmation) -> None:
    await steps.ask(step)
    assert await steps.waiting("me", "c1") == step
    assert await steps.take("me", step.id) == step


async def test_a_step_is_handed_out_once(steps: ConfirmationStore, step: Confirmation) -> None:
    await steps.ask(step)
    takes = await asyncio.gather(*(steps.take("me", step.id) for _ in range(6)), return_exceptions=True)
    assert [taken for taken in takes if isinstance(taken, Confirmation)] == [step]
    assert all(isinstance(taken, Confirmation | NotFound) for taken in takes)
    assert await steps.waiting("me", "c1") is None


async def test_a_step_is_over_after_five_minutes(
    steps: ConfirmationStore, step: Confirmation, clock: FakeClock
) -> None:
    await steps.ask(step)
    clock.move(minutes=5, seconds=-1)
    assert await steps.waiting("me", "c1") == step
    clock.move(seconds=1)
    assert await steps.waiting("me", "c1") is None
    with pytest.raises(NotFound):
        await steps.take("me", step.id)


async def test_a_step_of_another_user_or_conversation_is_not_seen(steps: ConfirmationStore, step: Confirmation) -> None:
    await steps.ask(step)
    assert await steps.waiting("you", "c1") is None
    assert await steps.waiting("me", "c2") is None
    with pytest.raises(NotFound):
        await steps.take("you", step.id)
    assert await steps.take("me", step.id) == step


async def test_the_last_question_of_a_conversation_counts(
    steps: ConfirmationStore, step: Confirmation, clock: FakeClock
) -> None:
    await steps.ask(step)
    clock.move(seconds=1)
    later = replace(step, id=new_id(clock), asked_at=clock.now())
    await steps.ask(later)
    assert await steps.waiting("me", "c1") == later


async def test_a_step_without_a_conversation_can_be_taken(steps: ConfirmationStore, step: Confirmation) -> None:
    alone = replace(step, conversation_id=None, turn_id=None)
    await steps.ask(alone)
    assert await steps.take("me", alone.id) == alone


async def test_steps_go_with_their_conversation_and_their_user(steps: ConfirmationStore, step: Confirmation) -> None:
    other = replace(step, id=f"{step.id[:-1]}z", conversation_id="c2")
    for each in (step, other):
        await steps.ask(each)
    await steps.forget("me", "c1")
    assert await steps.waiting("me", "c1") is None
    assert await steps.waiting("me", "c2") == other
    assert await steps.delete_all("me") == 1
    assert await steps.delete_all("me") == 0


async def test_actions_are_kept_and_listed_newest_first(journal: Journal, clock: FakeClock) -> None:
    actions = [action(clock, summary=f"{place}") for place in range(5)]
    for each in actions:
        await journal.note(each)
    assert await journal.get("me", actions[2].id) == actions[2]
    first = await journal.page("me", limit=2)
    second = await journal.page("me", cursor=first.cursor, limit=2)
    third = await journal.page("me", cursor=second.cursor, limit=2)
    assert [*first.items, *second.items, *third.items] == actions[::-1]
    assert third.cursor is None
    assert (await journal.page("you")).items == ()


async def test_a_whole_page_has_no_next_one(journal: Journal, clock: FakeClock) -> None:
    for _ in range(2):
        await journal.note(action(clock))
    assert (await journal.page("me", limit=2)).cursor is None


async def test_a_cursor_not_ours_is_refused(journal: Journal) -> None:
    with pytest.raises(InvalidValue):
        await journal.page("me", cursor="nonsense")


async def test_what_was_changed_lately_in_a_conversation_is_found(journal: Journal, clock: FakeClock) -> None:
    old = action(clock)
    clock.move(minutes=10)
    since = clock.now()
    new, elsewhere, later = action(clock), action(clock, conversation_id="c2"), action(clock)
    for each in (old, new, elsewhere, later):
        await journal.note(each)
    assert await journal.since("me", "c1", since) == [later, new]
    assert await journal.since("me", "c1", new.at) == [later, new]
    assert await journal.since("you", "c1", since) == []


async def test_an_action_is_taken_back_once(journal: Journal, clock: FakeClock) -> None:
    kept = action(clock)
    await journal.note(kept)
    claims = await asyncio.gather(
        *(journal.claim_undo("me", kept.id, clock.now()) for _ in range(6)), return_exceptions=True
    )
    undone = replace(kept, undone_at=clock.now())
    assert [claim for claim in claims if isinstance(claim, Action)] == [undone]
    assert sum(isinstance(claim, NotUndoable) for claim in claims) == 5
    assert await journal.get("me", kept.id) == undone


async def test_what_could_not_be_taken_back_may_be_tried_again(journal: Journal, clock: FakeClock) -> None:
    kept = action(clock)
    await journal.note(kept)
    await journal.claim_undo("me", kept.id, clock.now())
    await journal.release_undo("me", kept.id)
    assert await journal.get("me", kept.id) == kept
    assert (await journal.claim_undo("me", kept.id, clock.now())).undone_at == clock.now()


async def test_without_a_way_back_nothing_is_taken_back(journal: Journal, clock: FakeClock) -> None:
    final = action(clock, undo=None)
    await journal.note(final)
    with pytest.raises(NotUndoable):
        await journal.claim_undo("me", final.id, clock.now())
    assert await journal.get("me", final.id) == final


@pytest.mark.parametrize("action_id", ["nothing", "01jabc", "ACTION#", "日本"])
async def test_an_unknown_action_is_not_found(journal: Journal, clock: FakeClock, action_id: str) -> None:
    with pytest.raises(NotFound):
        await journal.get("me", action_id)
    with pytest.raises(NotFound):
        await journal.claim_undo("me", action_id, clock.now())


async def test_another_users_action_is_not_found(journal: Journal, clock: FakeClock) -> None:
    kept = action(clock)
    await journal.note(kept)
    with pytest.raises(NotFound):
        await journal.claim_undo("you", kept.id, clock.now())
    assert (await journal.get("me", kept.id)).can_be_undone


async def test_actions_go_with_their_conversation_and_their_user(journal: Journal, clock: FakeClock) -> None:
    kept = [action(clock), action(clock, conversation_id="c2"), action(clock, conversation_id=None)]
    for each in kept:
        await journal.note(each)
    await journal.forget("me", "c1")
    assert [each.conversation_id for each in (await journal.page("me")).items] == [None, "c2"]
    assert await journal.delete_all("me") == 2
    assert (await journal.page("me")).items == ()


async def test_actions_are_forgotten_after_90_days_on_this_machine(
    stores: Stores, journal: Journal, clock: FakeClock
) -> None:
    """The table of the cloud deletes by itself what has expired, so there the entry must say when."""
    old = action(clock)
    await journal.note(old)
    clock.move(days=90, seconds=1)
    new = action(clock)
    await journal.note(new)
    listed = (await journal.page("me")).items
    assert listed[0] == new
    if isinstance(stores, AwsStores):
        item = await stores.table.get(Key("USER#me", f"ACTION#{old.id}"))
        assert item
        assert item["expires_at"] == int((old.at + timedelta(days=90)).timestamp())
    else:
        assert listed == (new,)
