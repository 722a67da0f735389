"""What every store of memories promises."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tertulia.domain.errors import NotFound
from tertulia.domain.memories import Memory, MemoryKind, MemorySource
from tertulia.ports import Embedder
from tertulia.ports.memories import MemoryStore
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder

type MakeStore = Callable[[Embedder], MemoryStore]

NEARLY_ALIKE = 0.25
"""Enough where a word is in common, too little where none is."""


@pytest.fixture
def make_store(stores: Stores) -> MakeStore:
    return stores.memories


@pytest.fixture
def store(make_store: MakeStore) -> MemoryStore:
    return make_store(WordEmbedder())


@pytest.fixture
def wordy(make_store: MakeStore) -> MemoryStore:
    """Return a store in which words in common decide."""
    return make_store(WordEmbedder(likeness=NEARLY_ALIKE))


@pytest.fixture
def a_memory(clock: FakeClock) -> Callable[..., Memory]:
    def make(content: str, memory_id: str | None = None, **changes: Any) -> Memory:
        clock.move(seconds=1)
        fields: dict[str, Any] = {"id": memory_id or content, "user": "me", "content": content}
        return Memory(**{**fields, "created_at": clock.now(), **changes})

    return make


async def contents(store: MemoryStore, text: str, limit: int = 10) -> list[str]:
    return [memory.content for memory in await store.recall("me", text, limit)]


async def test_every_field_of_a_memory_comes_back(store: MemoryStore, a_memory: Callable[..., Memory]) -> None:
    clockwise = a_memory("I live in Porto")
    memory = replace(
        clockwise,
        kind=MemoryKind.SHORT_TERM,
        category="place",
        importance=0.9,
        expires_at=clockwise.created_at.replace(year=2031),
        key="home",
        source=MemorySource.USER,
        source_id="t1",
        device_id="kitchen",
        valid_from=clockwise.created_at,
        valid_to=clockwise.created_at.replace(year=2032),
        access_count=3,
        used_at=clockwise.created_at,
        vendor_id="v1",
    )
    await store.remember(memory)
    assert await store.list("me") == [memory]
    assert await store.recall("me", "live in Porto", 5) == [memory]


async def test_what_is_close_in_meaning_is_recalled_newest_first(
    store: MemoryStore, a_memory: Callable[..., Memory]
) -> None:
    for content in ("my dog is Rex", "my dog likes walks", "the sky was blue"):
        await store.remember(a_memory(content))
    assert await contents(store, "my dog") == ["my dog likes walks", "my dog is Rex"]


async def test_the_closest_are_recalled_where_there_are_too_many(
    store: MemoryStore, a_memory: Callable[..., Memory]
) -> None:
    for content in ("my dog Rex", "my dog", "my dog and a cat and a bird"):
        await store.remember(a_memory(content))
    assert await contents(store, "my dog Rex", 2) == ["my dog", "my dog Rex"]
    assert await contents(store, "my dog Rex", 0) == []
    assert await contents(store, "my dog Rex", -1) == []


async def test_nearly_close_needs_a_word_in_common(wordy: MemoryStore, a_memory: Callable[..., Memory]) -> None:
    await wordy.remember(a_memory("swimming on Tuesdays with Ana"))
    assert await contents(wordy, "bicycle") == []
    assert await contents(wordy, "tuesdays?") == ["swimming on Tuesdays with Ana"]


async def test_far_in_meaning_is_not_recalled_for_a_word(
    make_store: MakeStore, a_memory: Callable[..., Memory]
) -> None:
    store = make_store(WordEmbedder(likeness=0.2))
    await store.remember(a_memory("swimming on Tuesdays"))
    assert await contents(store, "tuesdays?") == []


@pytest.mark.parametrize("asked", ["部署", "部署方案", "回滚", "回", "请问部署呢", "ＤＯＣＫＥＲ", "nvda?"])
async def test_chinese_is_found_by_its_words(wordy: MemoryStore, a_memory: Callable[..., Memory], asked: str) -> None:
    content = "今天讨论了部署方案和回滚步骤NVDA股票用docker"
    await wordy.remember(a_memory(content))
    await wordy.remember(a_memory("我喜欢喝茶"))
    assert await contents(wordy, asked) == [content]


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("来週の火曜日に歯医者へ行く", "歯医者はいつ"),
        ("コーヒーが好き", "コーヒー"),
        ("나는 부산에 살아요", "부산"),
        ("Ich wohne in der Königstraße", "konigstrasse"),
        ("Eu moro em São Paulo", "sao"),
        ("Мой ёж живёт дома", "еж"),
        ("ฉันชอบกินข้าวผัด", "ข้าวผัด"),
    ],
)
async def test_every_script_is_found_by_its_words(
    wordy: MemoryStore, a_memory: Callable[..., Memory], content: str, asked: str
) -> None:
    await wordy.remember(a_memory(content))
    await wordy.remember(a_memory("xylophone"))
    assert await contents(wordy, asked) == [content]


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("@nasa", "nasa"),
        ("50%", "50"),
        ("C++", "c"),
        ("it's", "it"),
        ("a-b", "b"),
        ("summary:hello", "hello"),
        ("words:hello", "hello"),
        ("NOT hello", "hello"),
        ('hello AND "', "hello"),
        ("NEAR(hello", "hello"),
        ("hel* ^hello", "hello"),
    ],
)
async def test_punctuation_in_a_question_is_no_query_syntax(
    wordy: MemoryStore, a_memory: Callable[..., Memory], asked: str, word: str
) -> None:
    await wordy.remember(a_memory(f"xylophone {word} zither"))
    assert await contents(wordy, asked) == [f"xylophone {word} zither"]


@pytest.mark.parametrize("asked", ["", "   ", '"', "(", "*", "!!!", "\x00", "AND", "。、", "x " * 5000])
async def test_a_question_without_words_finds_nothing(
    wordy: MemoryStore, a_memory: Callable[..., Memory], asked: str
) -> None:
    await wordy.remember(a_memory("hello"))
    assert await contents(wordy, asked) == []


async def test_replaced_and_forgotten_words_leave_no_ghosts(
    wordy: MemoryStore, a_memory: Callable[..., Memory]
) -> None:
    await wordy.remember(a_memory("alpha", "m1"))
    await wordy.remember(a_memory("beta", "m1"))
    assert (await contents(wordy, "alpha!"), await contents(wordy, "beta!")) == ([], ["beta"])
    await wordy.forget("me", "m1")
    await wordy.remember(a_memory("gamma", "m2"))
    assert (await contents(wordy, "alpha!"), await contents(wordy, "beta!")) == ([], [])


async def test_the_same_content_is_kept_once_and_becomes_fresh(
    store: MemoryStore, a_memory: Callable[..., Memory]
) -> None:
    await store.remember(a_memory("I like tea", "m1", importance=0.2))
    await store.remember(a_memory("I like coffee", "m2"))
    again = a_memory("I  like TEA ", "m3", importance=0.8)
    await store.remember(again)
    assert await store.list("me") == [replace(again, id="m1", access_count=1), *await store.recall("me", "coffee", 1)]


async def test_an_expired_memory_is_neither_recalled_nor_listed(
    store: MemoryStore, a_memory: Callable[..., Memory], clock: FakeClock
) -> None:
    memory = a_memory("my dog is at the vet")
    await store.remember(replace(memory, expires_at=clock.now().replace(hour=20)))
    assert await contents(store, "my dog") == [memory.content]
    clock.move(hours=8)
    assert await contents(store, "my dog") == []
    assert await store.list("me") == []


async def test_nobody_sees_or_forgets_another_users_memory(store: MemoryStore, a_memory: Callable[..., Memory]) -> None:
    memory = a_memory("my dog is Rex", "m1")
    await store.remember(memory)
    await store.remember(replace(memory, user="you"))
    for user, memory_id in (("stranger", "m1"), ("me", "m2")):
        with pytest.raises(NotFound):
            await store.forget(user, memory_id)
    assert await store.recall("stranger", "my dog", 5) == []
    assert await store.list("stranger") == []
    await store.forget("you", "m1")
    assert await store.list("me") == [memory]


async def test_a_list_has_the_newest_first_up_to_its_limit(store: MemoryStore, a_memory: Callable[..., Memory]) -> None:
    memories = [a_memory(f"fact {place}") for place in range(5)]
    for memory in memories:
        await store.remember(memory)
    assert await store.list("me", 3) == memories[:1:-1]
    assert await store.list("me", 0) == []
    assert await store.list("me", -1) == []


async def test_vectors_of_another_model_wait_until_they_are_made_anew(
    make_store: MakeStore, a_memory: Callable[..., Memory]
) -> None:
    await make_store(WordEmbedder("old-model")).remember(a_memory("my dog is Rex"))
    newer = WordEmbedder("new-model")
    store = make_store(newer)
    assert await contents(store, "my dog") == []
    await store.remember(a_memory("I like tea"))
    assert await contents(store, "my dog") == ["my dog is Rex"]
    assert newer.embedded[-3:-1] == ["I like tea", "my dog is Rex"]
