"""What every conversation store promises about its lists."""

import re

import pytest

from tertulia.domain.errors import InvalidValue
from tertulia.ports import ConversationStore
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import ME, a_turn, begun


@pytest.fixture
def store(stores: Stores) -> ConversationStore:
    return stores.conversations


async def test_conversations_are_listed_by_last_change(store: ConversationStore, clock: FakeClock) -> None:
    first = await begun(store, a_turn("a"))
    clock.move(seconds=1)
    second = await begun(store, a_turn("b"))
    assert (await store.page(ME)).items == (second, first)
    clock.move(microseconds=1)
    await store.append(first, a_turn("c", 2))
    page = await store.page(ME)
    assert [each.id for each in page.items] == [first.id, second.id]
    assert (page.total, page.cursor) == (2, None)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_pages_show_each_conversation_once(store: ConversationStore, clock: FakeClock, size: int) -> None:
    begun_here = []
    for place in range(7):
        clock.move(seconds=place % 2)
        begun_here.append((await begun(store, a_turn(f"t{place}"))).id)
    seen, cursor = list[str](), None
    while True:
        page = await store.page(ME, cursor=cursor, limit=size)
        assert page.total == 7
        seen += [each.id for each in page.items]
        cursor = page.cursor
        if cursor is None:
            break
        assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    assert len(seen) == 7
    assert sorted(seen) == sorted(begun_here)


async def test_pages_of_a_device_hold_its_conversations_only(store: ConversationStore, clock: FakeClock) -> None:
    ids = []
    for place in range(6):
        clock.move(seconds=1)
        kept = await begun(store, a_turn(f"t{place}"), device_id="clip" if place % 3 else None)
        ids += [kept.id] if kept.device_id else []
    page = await store.page(ME, limit=3, device_id="clip")
    rest = await store.page(ME, limit=3, device_id="clip", cursor=page.cursor)
    assert [each.id for each in (*page.items, *rest.items)] == ids[::-1]
    assert (page.total, rest.cursor) == (4, None)


@pytest.mark.parametrize("cursor", ["", "!", "abc", "bnVsbA", "WzEsMl0", "WyIyMDI2IiwgIiJd", "é", "W1tbW1tb" * 9000])
async def test_a_cursor_that_is_not_ours_is_refused(store: ConversationStore, cursor: str) -> None:
    with pytest.raises(InvalidValue):
        await store.page(ME, cursor=cursor)
