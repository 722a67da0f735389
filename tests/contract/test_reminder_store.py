"""What every store of reminders promises."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tertulia.domain.errors import Conflict, NotFound
from tertulia.domain.reminders import Reminder, Repeat
from tertulia.ports.reminders import ReminderStore
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock


@pytest.fixture
def reminders(stores: Stores) -> ReminderStore:
    return stores.reminders


def reminder(number: int = 1, user: str = "ana", **changes: object) -> Reminder:
    made = Reminder(
        id=f"{number:016x}",
        user=user,
        text="call Ben 📞",
        timezone="America/Sao_Paulo",
        wall=datetime(2030, 6, 1, 9) + timedelta(hours=number),
        created_at=datetime(2030, 6, 1, 11, tzinfo=UTC),
        next_at=datetime(2030, 6, 1, 12, tzinfo=UTC) + timedelta(hours=number),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


async def test_a_reminder_comes_back_as_it_was_given_for_its_user_alone(reminders: ReminderStore) -> None:
    whole = reminder(
        repeat=Repeat.WEEKDAYS,
        language="pt-BR",
        snoozed_until=datetime(2030, 6, 1, 12, 5, 1, 7, tzinfo=UTC),
        told_at=datetime(2030, 6, 1, tzinfo=UTC),
        conversation_id="abc",
        was_late=True,
    )
    await reminders.add(whole)

    assert await reminders.get("ana", whole.id) == whole
    assert await reminders.open("ana") == [whole]
    assert await reminders.open("ben") == []
    for user, known in (("ben", whole.id), ("ana", "0" * 16)):
        with pytest.raises(NotFound):
            await reminders.get(user, known)


async def test_what_waits_is_listed_by_when_it_rings(reminders: ReminderStore) -> None:
    for number in (3, 1, 2):
        await reminders.add(reminder(number))
    assert [each.id[-1] for each in await reminders.open("ana")] == ["1", "2", "3"]


async def test_of_two_changes_at_once_one_counts(reminders: ReminderStore, clock: FakeClock) -> None:
    await reminders.add(reminder())
    changed = [reminder().canceled(clock.now()), reminder().snoozed(clock.now() + timedelta(hours=1), clock.now())]

    outcomes = await asyncio.gather(*(reminders.save(each) for each in changed), return_exceptions=True)

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "NoneType"]
    kept = await reminders.get("ana", reminder().id)
    assert kept in changed


async def test_a_reminder_that_is_gone_is_not_brought_back_by_a_change(
    reminders: ReminderStore, clock: FakeClock
) -> None:
    with pytest.raises(NotFound):
        await reminders.save(reminder().canceled(clock.now()))
    await reminders.add(reminder())
    with pytest.raises(Conflict):
        await reminders.save(replace(reminder(), revision=9))
    assert await reminders.open("ana") == [reminder()]


async def test_what_rang_is_to_be_told_until_it_was_told_or_is_known(
    reminders: ReminderStore, clock: FakeClock
) -> None:
    for number in (2, 1, 3):
        await reminders.add(reminder(number))
    assert await reminders.to_be_told("ana") == []
    clock.move(hours=2)
    rung = [reminder(number).rung(clock.now()) for number in (2, 1)]
    for each in rung:
        await reminders.save(each)

    assert await reminders.to_be_told("ana") == [rung[1], rung[0]]
    assert await reminders.to_be_told("ben") == []
    assert len(await reminders.open("ana")) == 3

    await reminders.save(rung[0].told(clock.now()))
    await reminders.save(rung[1].acknowledged(clock.now()))
    assert await reminders.to_be_told("ana") == []
    assert [each.id[-1] for each in await reminders.open("ana")] == ["3", "2"]


async def test_what_is_over_is_not_listed_and_forgotten_after_a_month(
    reminders: ReminderStore, clock: FakeClock
) -> None:
    await reminders.add(reminder())
    await reminders.save(reminder().canceled(clock.now()))
    assert await reminders.open("ana") == []
    assert (await reminders.get("ana", reminder().id)).canceled_at == clock.now()


async def test_everything_of_a_user_is_erased(reminders: ReminderStore, clock: FakeClock) -> None:
    for number in range(30):
        await reminders.add(reminder(number))
    await reminders.save(reminder(3).canceled(clock.now()))
    await reminders.add(reminder(1, user="ben"))

    assert await reminders.delete_all("ana") == 30
    assert await reminders.delete_all("ana") == 0
    assert await reminders.open("ben") == [reminder(1, user="ben")]
