"""What every store of limits promises: rates, spending and usage, counted over all processes."""

import asyncio
from datetime import date, timedelta

import pytest

from tertulia.domain.usage import DayOfUsage, ModelUsage, UsageRecord
from tertulia.ports.limits import RateCounter, UsageStore
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock

ME = "me@example.org"
DAY = date(2030, 6, 1)


@pytest.fixture
def rates(stores: Stores) -> RateCounter:
    return stores.rates


@pytest.fixture
def usage(stores: Stores) -> UsageStore:
    return stores.usage


def used(model: str = "small", turns: int = 1, cost: int = 100) -> UsageRecord:
    one = ModelUsage(tokens_in=10, tokens_out=3, audio_seconds=1.25, characters=40, cost_microdollars=cost)
    return UsageRecord(turns=turns, models={model: one})


async def test_the_hits_of_a_window_are_counted_and_the_next_one_is_told_how_long_to_wait(
    rates: RateCounter, clock: FakeClock
) -> None:
    for place in range(3):
        assert await rates.hit(ME, "turns", 3, 60, f"t{place}") is None
        clock.move(seconds=10)
    assert await rates.hit(ME, "turns", 3, 60, "t3") == pytest.approx(30)
    clock.move(seconds=29)
    assert await rates.hit(ME, "turns", 3, 60, "t3") == pytest.approx(1)
    clock.move(seconds=1)
    assert await rates.hit(ME, "turns", 3, 60, "t3") is None


async def test_no_stretch_of_the_window_holds_more_hits_than_the_limit(rates: RateCounter, clock: FakeClock) -> None:
    taken: list[float] = []
    for place in range(90):
        if await rates.hit(ME, "turns", 5, 60, f"t{place}") is None:
            taken.append(clock.now().timestamp())
        clock.move(seconds=3)
    assert all(later - earlier >= 60 for earlier, later in zip(taken, taken[5:], strict=False))
    assert len(taken) >= 20


async def test_a_refused_hit_does_not_count(rates: RateCounter, clock: FakeClock) -> None:
    assert await rates.hit(ME, "turns", 1, 60, "t1") is None
    for place in range(3):
        clock.move(seconds=10)
        assert await rates.hit(ME, "turns", 1, 60, f"again{place}") is not None
    clock.move(seconds=30)
    assert await rates.hit(ME, "turns", 1, 60, "t2") is None


async def test_the_same_mark_is_counted_once(rates: RateCounter) -> None:
    for _ in range(3):
        assert await rates.hit(ME, "turns", 2, 60, "tap") is None
    assert await rates.hit(ME, "turns", 2, 60, "t2") is None
    assert await rates.hit(ME, "turns", 2, 60, "tap") is None
    assert await rates.hit(ME, "turns", 2, 60, "t3") is not None


async def test_users_and_kinds_do_not_meet(rates: RateCounter) -> None:
    for user, kind in ((ME, "turns"), (ME, "device#clip 1"), ("you", "turns")):
        assert await rates.hit(user, kind, 1, 60, "t") is None
        assert await rates.hit(user, kind, 1, 60, "u") is not None


async def test_of_hits_at_once_no_more_than_the_limit_pass(rates: RateCounter) -> None:
    waits = await asyncio.gather(*(rates.hit(ME, "turns", 4, 60, f"t{place}") for place in range(8)))
    assert sum(wait is None for wait in waits) == 4


async def test_a_forgotten_hit_makes_room_at_once_and_one_that_is_never_forgotten_in_time(
    rates: RateCounter, clock: FakeClock
) -> None:
    assert await rates.hit(ME, "running", 2, 150, "t1") is None
    assert await rates.hit(ME, "running", 2, 150, "t2") is None
    await rates.forget(ME, "running", "unknown")
    assert await rates.hit(ME, "running", 2, 150, "t3") is not None
    await rates.forget(ME, "running", "t1")
    await rates.forget(ME, "running", "t1")
    assert await rates.hit(ME, "running", 2, 150, "t3") is None
    assert await rates.hit(ME, "running", 2, 150, "t4") is not None
    clock.move(seconds=151)
    assert await rates.hit(ME, "running", 2, 150, "t4") is None


async def test_a_lowered_limit_waits_until_enough_hits_have_passed(rates: RateCounter, clock: FakeClock) -> None:
    for place in range(4):
        await rates.hit(ME, "turns", 4, 60, f"t{place}")
        clock.move(seconds=1)
    assert await rates.hit(ME, "turns", 2, 60, "late") == pytest.approx(58)


async def test_usage_adds_up_by_day_and_model(usage: UsageStore) -> None:
    await usage.add(ME, DAY, used("qwen/qwen3.6-27b"))
    await usage.add(ME, DAY, used("qwen/qwen3.6-27b"))
    await usage.add(ME, DAY, used("whisper", turns=0, cost=0))
    await usage.add(ME, DAY + timedelta(days=2), used("whisper"))
    await usage.add("you", DAY, used())
    twice = ModelUsage(tokens_in=20, tokens_out=6, audio_seconds=2.5, characters=80, cost_microdollars=200)
    first = {"qwen/qwen3.6-27b": twice, "whisper": used("whisper", cost=0).models["whisper"]}
    assert await usage.days(ME, DAY) == [
        DayOfUsage(day=DAY, used=UsageRecord(turns=2, models=first)),
        DayOfUsage(day=DAY + timedelta(days=2), used=used("whisper")),
    ]
    assert [day.day for day in await usage.days(ME, DAY + timedelta(days=1))] == [DAY + timedelta(days=2)]
    assert await usage.days("nobody", DAY) == []


async def test_a_turn_without_any_model_is_counted(usage: UsageStore) -> None:
    await usage.add(ME, DAY, UsageRecord(turns=1))
    assert await usage.days(ME, DAY) == [DayOfUsage(day=DAY, used=UsageRecord(turns=1))]


async def test_what_is_used_is_spent_by_the_user_and_by_the_deployment(usage: UsageStore) -> None:
    await usage.add(ME, DAY, used(cost=300))
    await usage.add("you", DAY, used(cost=50))
    assert [await usage.spent(user, DAY) for user in (ME, "you", "nobody", None)] == [300, 50, 0, 350]
    assert await usage.spent(None, DAY + timedelta(days=1)) == 0


async def test_what_is_reserved_counts_as_spent_until_the_use_takes_its_place(usage: UsageStore) -> None:
    assert await usage.reserve(ME, DAY, 1000, cap=5000)
    assert await usage.reserve(None, DAY, 1000, cap=None)
    assert (await usage.spent(ME, DAY), await usage.spent(None, DAY)) == (1000, 1000)
    await usage.add(ME, DAY, used(cost=300), reserved=1000)
    assert (await usage.spent(ME, DAY), await usage.spent(None, DAY)) == (300, 300)
    await usage.reserve(ME, DAY, 1000, cap=None)
    await usage.reserve(None, DAY, 1000, cap=None)
    await usage.add(ME, DAY, UsageRecord(), reserved=1000)
    assert (await usage.spent(ME, DAY), await usage.spent(None, DAY)) == (300, 300)


async def test_turns_at_once_do_not_reserve_beyond_the_cap(usage: UsageStore) -> None:
    taken = await asyncio.gather(*(usage.reserve(ME, DAY, 1000, cap=2500) for _ in range(8)))
    assert sum(taken) == 3
    assert await usage.spent(ME, DAY) == 3000
    assert not await usage.reserve(ME, DAY, 1, cap=3000)
    assert await usage.reserve(ME, DAY, 1, cap=3001)


async def test_a_user_who_is_removed_leaves_only_what_the_deployment_spent(
    usage: UsageStore, rates: RateCounter
) -> None:
    await usage.add(ME, DAY, used(cost=300))
    await usage.add("you", DAY, used(cost=50))
    await rates.hit(ME, "turns", 1, 60, "t1")
    await usage.remove(ME)
    assert (await usage.days(ME, DAY), await usage.spent(ME, DAY), await usage.spent(None, DAY)) == ([], 0, 350)
    assert await rates.hit(ME, "turns", 1, 60, "t2") is None
    assert await usage.spent("you", DAY) == 50
