"""What every store of the users' own event streams promises."""

import asyncio

import pytest

from tertulia.domain.user_events import UserEvent
from tertulia.ports.user_events import UserEvents
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock


@pytest.fixture
def events(stores: Stores) -> UserEvents:
    return stores.user_events


def event(text: str, key: str = "") -> UserEvent:
    return UserEvent(name="reminder", data={"text": text}, key=key)


async def texts(events: UserEvents, after: int = 0, user: str = "ana") -> list[str]:
    return [each.event.data["text"] for each in await events.read(user, after)]


async def test_events_are_read_from_a_number_on_by_their_user_alone(events: UserEvents, clock: FakeClock) -> None:
    numbers = [await events.publish("ana", event(text)) for text in ("a", "b ✓", "c")]
    await events.publish("ben", event("for Ben"))

    assert numbers == sorted(set(numbers))
    assert await texts(events) == ["a", "b ✓", "c"]
    assert await texts(events, numbers[0]) == ["b ✓", "c"]
    assert await texts(events, numbers[2]) == []
    assert await texts(events, user="ben") == ["for Ben"]
    [first, *_] = await events.read("ana", 0)
    assert (first.number, first.event, first.at) == (numbers[0], event("a"), clock.now())


async def test_the_last_number_is_known_and_zero_where_nothing_happened(events: UserEvents) -> None:
    assert await events.last("ana") == 0
    number = await events.publish("ana", event("a"))
    assert await events.last("ana") == number
    assert await events.last("ben") == 0


async def test_numbers_grow_after_everything_was_erased(events: UserEvents, clock: FakeClock) -> None:
    before = [await events.publish("ana", event("a")) for _ in range(5)]
    assert await events.delete_all("ana") == 5
    clock.move(seconds=1)
    assert await events.publish("ana", event("b")) > before[-1]
    assert await texts(events) == ["b"]


async def test_numbers_stay_below_what_a_browser_can_count(events: UserEvents) -> None:
    assert await events.publish("ana", event("a")) < 2**53


async def test_the_same_key_again_is_the_same_event(events: UserEvents) -> None:
    first = await events.publish("ana", event("a", "one"))
    await events.publish("ana", event("b", "two"))
    assert await events.publish("ana", event("a", "one")) == first
    assert await events.publish("ben", event("a", "one")) != 0
    await events.publish("ana", event("c"))
    await events.publish("ana", event("c"))
    assert await texts(events) == ["a", "b", "c", "c"]


async def test_many_at_once_leave_no_number_out_and_none_twice(events: UserEvents) -> None:
    wanted = [f"{number}" for number in range(12)]
    numbers = await asyncio.gather(*(events.publish("ana", event(text, f"key {text}")) for text in wanted))
    assert sorted(numbers) == list(range(min(numbers), min(numbers) + 12))
    assert sorted(await texts(events), key=int) == wanted
