"""The hosted memory service stores what we decide, as it stands, and is never waited for by a recall."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.stores import EmbeddedStores
from tertulia.adapters.mem0 import PAGE, Mem0
from tertulia.adapters.vendored_memories import VendoredMemories
from tertulia.domain.errors import NotFound, QuotaUsedUp, ServiceFailed
from tertulia.domain.memories import Memory, MemorySource
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder
from tests.fakes.mem0 import KEY, Fails, FakeMem0

clock = FakeClock()


def a_memory(content: str = "I like tea", **fields: Any) -> Memory:
    return Memory(**{"id": "7001", "user": "u1", "content": content, "created_at": clock.now(), **fields})


@pytest.fixture
async def store(tmp_path: Path, mem0: Mem0) -> AsyncIterator[VendoredMemories]:
    database = Database(tmp_path / "tertulia.db")
    yield VendoredMemories(EmbeddedStores(database, tmp_path, clock).memories(WordEmbedder()), mem0)
    await database.close()


async def test_the_service_gets_the_words_as_they_stand_and_extracts_nothing(mem0: Mem0, fake_mem0: FakeMem0) -> None:
    assert await mem0.add(a_memory()) == "mem-0"
    [asked] = fake_mem0.asked
    assert asked["messages"] == [{"role": "user", "content": "I like tea"}]
    assert (asked["infer"], asked["user_id"]) == (False, "u1")


async def test_the_user_is_named_in_the_filters_and_others_memories_are_dropped(
    mem0: Mem0, fake_mem0: FakeMem0
) -> None:
    fake_mem0.knows("u1", "I like tea")
    fake_mem0.knows("u2", "I like wine")
    for ignores in (False, True):
        fake_mem0.ignores_filters = ignores
        assert [memory.content for memory in await mem0.all("u1")] == ["I like tea"]
    assert all(asked["filters"] == {"AND": [{"user_id": "u1"}]} for asked in fake_mem0.asked)
    assert not any("user_id" in asked for asked in fake_mem0.asked)


async def test_every_page_is_read(mem0: Mem0, fake_mem0: FakeMem0) -> None:
    fake_mem0.knows("u1", *(f"fact {place}" for place in range(PAGE + 5)))
    memories = await mem0.all("u1")
    assert len({memory.id for memory in memories}) == PAGE + 5
    assert {memory.source for memory in memories} == {MemorySource.VENDOR}


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Fails(500), ServiceFailed),
        (Fails(503, "not even JSON"), ServiceFailed),
        (Fails(200, "not even JSON"), ServiceFailed),
        (Fails(429, headers={"Retry-After": "7"}), ServiceFailed),
        (Fails(413), QuotaUsedUp),
    ],
)
async def test_failures_are_told_in_our_words(
    mem0: Mem0, fake_mem0: FakeMem0, failure: Fails, kind: type[ServiceFailed]
) -> None:
    await mem0.all("u1")
    fake_mem0.fails = [failure]
    with pytest.raises(ServiceFailed) as raised:
        await mem0.add(a_memory())
    assert type(raised.value) is kind
    assert "vendor" not in raised.value.message
    assert raised.value.retry_after == (7 if failure.status == 429 else None)


async def test_a_refused_key_is_told_so(mem0_server: tuple[FakeMem0, str], mem0: Mem0) -> None:
    stranger = Mem0(SecretStr("m0-wrong"), clock, mem0_server[1])
    with pytest.raises(ServiceFailed, match="key"):
        await stranger.all("u1")


async def test_a_service_out_of_reach_is_told_so(mem0: Mem0) -> None:
    nobody = Mem0(SecretStr(KEY), clock, "http://127.0.0.1:9")
    with pytest.raises(ServiceFailed, match="reached"):
        await nobody.all("u1")


async def test_a_memory_lies_here_and_there_and_is_deleted_here_and_there(
    store: VendoredMemories, fake_mem0: FakeMem0
) -> None:
    kept = await store.remember(a_memory())
    [entry] = fake_mem0.entries
    assert (await store.get("u1", kept.id)).vendor_id == entry["id"]
    await store.forget("u1", kept.id)
    assert fake_mem0.entries == []
    with pytest.raises(NotFound):
        await store.get("u1", kept.id)


async def test_recall_asks_our_own_store_alone(store: VendoredMemories, fake_mem0: FakeMem0) -> None:
    await store.remember(a_memory())
    asked = len(fake_mem0.asked)
    fake_mem0.fails = [Fails(500)]
    assert [memory.content for memory in await store.recall("u1", "I like tea", 5)] == ["I like tea"]
    assert len(fake_mem0.asked) == asked
    assert fake_mem0.fails


async def test_what_the_service_missed_goes_along_with_the_next_one(
    store: VendoredMemories, fake_mem0: FakeMem0
) -> None:
    await store.remember(a_memory())
    fake_mem0.fails = [Fails(500)]
    await store.remember(a_memory("I like jazz", id="7002"))
    assert [memory.content for memory in await store.recall("u1", "I like jazz", 1)] == ["I like jazz"]
    assert [entry["memory"] for entry in fake_mem0.entries] == ["I like tea"]
    await store.remember(a_memory("I like rain", id="7003"))
    assert sorted(entry["memory"] for entry in fake_mem0.entries) == ["I like jazz", "I like rain", "I like tea"]


async def test_the_same_words_again_are_sent_once(store: VendoredMemories, fake_mem0: FakeMem0) -> None:
    for _ in range(2):
        await store.remember(a_memory())
    assert [entry["memory"] for entry in fake_mem0.entries] == ["I like tea"]


async def test_what_the_service_knew_before_is_recalled_too(store: VendoredMemories, fake_mem0: FakeMem0) -> None:
    fake_mem0.knows("u1", "my dog is Rex")
    fake_mem0.knows("u2", "my dog is Bello")
    await store.remember(a_memory())
    assert [memory.content for memory in await store.recall("u1", "my dog", 5)] == ["my dog is Rex"]
    assert len(fake_mem0.entries) == 3


async def test_what_could_not_be_deleted_there_is_still_listed(store: VendoredMemories, fake_mem0: FakeMem0) -> None:
    kept = await store.remember(a_memory())
    fake_mem0.fails = [Fails(500)]
    with pytest.raises(ServiceFailed):
        await store.forget("u1", kept.id)
    assert [memory.id for memory in await store.list("u1")] == [kept.id]
    await store.forget("u1", kept.id)
    assert (fake_mem0.entries, await store.list("u1")) == ([], [])


async def test_a_memory_that_is_stored_in_the_back_is_found_by_our_own_id(
    store: VendoredMemories, fake_mem0: FakeMem0
) -> None:
    fake_mem0.stores_in_the_back = True
    kept = await store.remember(a_memory())
    await store.remember(a_memory("I like jazz", id="7002"))
    await store.forget("u1", kept.id)
    assert [entry["memory"] for entry in fake_mem0.entries] == ["I like jazz"]


async def test_a_correction_replaces_the_words_there(store: VendoredMemories, fake_mem0: FakeMem0) -> None:
    kept = await store.remember(a_memory())
    known = await store.get("u1", kept.id)
    await store.correct(replace(known, content="I like green tea"))
    assert [entry["memory"] for entry in fake_mem0.entries] == ["I like green tea"]
    await store.forget_all("u1")
    assert (fake_mem0.entries, await store.list("u1")) == ([], [])


async def test_the_key_switches_the_service_on(
    make_assistant: MakeAssistant, settings: Settings, mem0_server: tuple[FakeMem0, str], fake_mem0: FakeMem0
) -> None:
    own = settings.model_copy(
        update={"mem0_api_key": SecretStr(KEY), "mem0_base_url": mem0_server[1], "mem0_user_id": "me-there"}
    )
    assistant = make_assistant(own, embedder=WordEmbedder(), clock=clock)
    del assistant.__dict__["memories"]
    await assistant.memories.remember(a_memory(user=own.user_id))
    assert [entry["user_id"] for entry in fake_mem0.entries] == ["me-there"]
    assert make_assistant().memory_vendor is None
