"""What every store of memories promises about facts that change, corrections, lists, and several processes at once."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tertulia.domain.errors import Conflict, InvalidValue, NotFound
from tertulia.domain.memories import Memory, MemoryKind, MemorySource, MemoryStats, MemoryWish
from tertulia.ports.memories import MemoryStore
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder

type Make = Callable[..., Memory]


@pytest.fixture
def store(stores: Stores) -> MemoryStore:
    return stores.memories(WordEmbedder())


@pytest.fixture
def a_memory(clock: FakeClock) -> Make:
    def make(content: str, memory_id: str | None = None, **changes: Any) -> Memory:
        clock.move(seconds=1)
        fields: dict[str, Any] = {"id": memory_id or content, "user": "me", "content": content}
        return Memory(**{**fields, "created_at": clock.now(), **changes})

    return make


async def contents(store: MemoryStore, text: str, limit: int = 10) -> list[str]:
    return [memory.content for memory in await store.recall("me", text, limit)]


async def test_a_changed_fact_ends_the_one_of_its_key(store: MemoryStore, a_memory: Make, clock: FakeClock) -> None:
    await store.remember(a_memory("I live in Porto", "1", key="home"))
    moved = a_memory("I live in Berlin", "2", key="home", valid_from=clock.now())
    await store.remember(moved)
    assert await contents(store, "live in") == ["I live in Berlin"]
    assert [(each.content, each.valid_to) for each in await store.list("me")] == [
        ("I live in Berlin", None),
        ("I live in Porto", moved.valid_from),
    ]


async def test_learning_from_an_older_turn_again_changes_nothing(store: MemoryStore, a_memory: Make) -> None:
    older = a_memory("I live in Porto", "1", key="home", source_id="t1")
    await store.remember(older)
    await store.remember(older)
    await store.remember(a_memory("I live in Berlin", "2", key="home"))
    before = await store.list("me")
    await store.remember(older)
    assert await store.list("me") == before
    assert [memory.access_count for memory in before] == [0, 0]


async def test_an_older_turn_that_is_learned_late_is_ended_at_once(store: MemoryStore, a_memory: Make) -> None:
    older = a_memory("I live in Porto", "1", key="home")
    newer = a_memory("I live in Berlin", "2", key="home")
    await store.remember(newer)
    await store.remember(older)
    assert await contents(store, "live in") == ["I live in Berlin"]
    assert (await store.get("me", "1")).valid_to == newer.created_at


async def test_what_is_true_again_is_recalled_again(store: MemoryStore, a_memory: Make) -> None:
    for city in ("Porto", "Berlin", "Porto"):
        await store.remember(a_memory(f"I live in {city}", key="home"))
    assert await contents(store, "live in") == ["I live in Porto"]


async def test_memories_without_a_key_end_none(store: MemoryStore, a_memory: Make) -> None:
    for city in ("Porto", "Berlin"):
        await store.remember(a_memory(f"I like {city}"))
    assert await contents(store, "I like") == ["I like Berlin", "I like Porto"]


async def test_what_one_process_writes_another_recalls(stores: Stores, a_memory: Make, clock: FakeClock) -> None:
    here, there = (stores.memories(WordEmbedder()) for _ in range(2))
    assert await contents(here, "my dog") == []
    await there.remember(a_memory("my dog is Rex", "1"))
    assert await contents(here, "my dog") == ["my dog is Rex"]
    await here.remember(a_memory("my dog likes walks", "2"))
    assert await contents(there, "my dog") == ["my dog likes walks", "my dog is Rex"]
    clock.move(hours=1)
    await there.forget("me", "1")
    await there.correct(replace(await there.get("me", "2"), content="my dog hates walks"))
    assert await contents(here, "my dog") == ["my dog hates walks"]
    await here.forget_all("me")
    assert await contents(there, "my dog") == []


async def test_two_processes_that_learn_the_same_at_once_keep_it_once(stores: Stores, a_memory: Make) -> None:
    both = [stores.memories(WordEmbedder()) for _ in range(2)]
    memories = [a_memory("my dog is Rex", str(place)) for place in range(2)]
    await asyncio.gather(*(store.remember(memory) for store, memory in zip(both, memories, strict=True)))
    for store in (*both, stores.memories(WordEmbedder())):
        assert await contents(store, "my dog") == ["my dog is Rex"]


async def test_a_corrected_memory_is_found_by_its_new_words(store: MemoryStore, a_memory: Make) -> None:
    memory = a_memory("alpha", "1")
    await store.remember(memory)
    corrected = replace(memory, content="beta", source=MemorySource.USER)
    assert await store.correct(corrected) == corrected
    assert (await contents(store, "alpha"), await contents(store, "beta")) == ([], ["beta"])
    assert await store.get("me", "1") == corrected


async def test_a_correction_may_not_say_what_another_memory_says(store: MemoryStore, a_memory: Make) -> None:
    first, second = a_memory("alpha", "1"), a_memory("beta", "2")
    await store.remember(first)
    await store.remember(second)
    with pytest.raises(Conflict):
        await store.correct(replace(first, content="Beta"))
    for unknown in (replace(first, id="3"), replace(first, user="you")):
        with pytest.raises(NotFound):
            await store.correct(unknown)


async def test_use_is_counted_once_an_answer(store: MemoryStore, a_memory: Make, clock: FakeClock) -> None:
    await store.remember(a_memory("alpha", "1"))
    at = clock.now()
    for _ in range(2):
        await store.use("me", ["1", "gone"], at)
    memory = await store.get("me", "1")
    assert (memory.access_count, memory.used_at) == (1, at)


async def test_pages_show_each_memory_once_and_tell_how_many_there_are(store: MemoryStore, a_memory: Make) -> None:
    for place in range(5):
        category = "schedule" if place % 2 else "fact"
        await store.remember(a_memory(f"memory {place}", category=category, device_id=f"d{place}"))
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = await store.page("me", MemoryWish(), cursor=cursor, limit=2)
        seen += [memory.content for memory in page.items]
        cursor = page.cursor
        assert page.total == 5
    assert cursor is None
    assert seen == [f"memory {place}" for place in (4, 3, 2, 1, 0)]
    wish = MemoryWish(category="schedule", kind=MemoryKind.LONG_TERM, device_id="d3")
    assert [memory.content for memory in (await store.page("me", wish)).items] == ["memory 3"]
    assert (await store.page("me", MemoryWish(kind=MemoryKind.SHORT_TERM))).items == ()
    with pytest.raises(InvalidValue):
        await store.page("me", MemoryWish(), cursor="nonsense")


async def test_stats_count_what_has_not_expired(store: MemoryStore, a_memory: Make, clock: FakeClock) -> None:
    await store.remember(a_memory("alpha"))
    await store.remember(a_memory("beta", category="schedule", kind=MemoryKind.SHORT_TERM, expires_at=clock.now()))
    await store.remember(a_memory("gamma", category="schedule"))
    expected = MemoryStats(total=2, short_term=0, long_term=2, categories={"fact": 1, "schedule": 1})
    assert await store.stats("me") == expected


async def test_the_most_important_are_those_not_long_idle(store: MemoryStore, a_memory: Make, clock: FakeClock) -> None:
    await store.remember(a_memory("old", importance=0.7))
    clock.move(days=30)
    await store.remember(a_memory("new", importance=0.5))
    await store.remember(a_memory("ended", importance=1.0, valid_to=clock.now()))
    assert [memory.content for memory in await store.important("me", 5)] == ["new", "old"]
    await store.use("me", ["old"], clock.now())
    assert [memory.content for memory in await store.important("me", 1)] == ["old"]
