"""The hosted index: ids for any user, delays and failures of the vendor, and what must never be shown."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_summaries import SqliteSummaries
from tertulia.adapters.pinecone import PineconePlace, PineconeSummaries, vector_id
from tertulia.domain.errors import NotConfigured, ServiceFailed
from tertulia.domain.summaries import SummaryEntry, Vector, text_to_index
from tertulia.usecases.search import Search
from tests.fakes.embedder import WordEmbedder
from tests.fakes.kept_turns import ME, NOON
from tests.fakes.pinecone import FakePinecone, a_description

USERS = st.text(max_size=700)
CONVERSATIONS = st.from_regex(r"[a-f0-9]{1,64}", fullmatch=True)


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[SqliteSummaries]:
    database = Database(tmp_path / "tertulia.db")
    yield SqliteSummaries(database)
    await database.close()


@pytest.fixture
async def hosted(pinecone: FakePinecone, own: SqliteSummaries) -> AsyncIterator[PineconeSummaries]:
    hosted = PineconeSummaries(SecretStr("pcsk_x"), PineconePlace(base_url=pinecone.address), own)
    yield hosted
    await hosted.close()


async def an_entry(title: str, conversation_id: str = "c1", user: str = ME, overview: str = "") -> SummaryEntry:
    [values] = await WordEmbedder().embed([text_to_index(title, overview)])
    return SummaryEntry(
        user=user,
        conversation_id=conversation_id,
        title=title,
        overview=overview,
        created_at=NOON,
        vector=Vector(tuple(values), "words-1"),
    )


async def names(index: PineconeSummaries, query: str, user: str = ME) -> list[str]:
    return [match.title for match in await Search(embedder=WordEmbedder(), summaries=index)(user, query)]


@given(USERS, CONVERSATIONS)
def test_an_id_is_ascii_and_short_and_always_the_same(user: str, conversation: str) -> None:
    name = vector_id(user, conversation)
    assert name.isascii()
    assert len(name) <= 512
    assert name == vector_id(user, conversation)


@given(USERS, USERS, CONVERSATIONS, CONVERSATIONS)
def test_no_two_users_share_an_id(user: str, other: str, conversation: str, another: str) -> None:
    same = (user, conversation) == (other, another)
    assert (vector_id(user, conversation) == vector_id(other, another)) == same


def test_plain_names_stay_readable_and_others_are_hashed() -> None:
    assert vector_id("ana", "ab12") == "ana-ab12"
    assert vector_id("a-b", "c") != vector_id("a", "b-c")
    hashed = [vector_id(user, "ab12") for user in ("joão", "x" * 600, "", "a\nb", "\ud800")]
    assert [name.startswith("sha256:") for name in hashed] == [True, True, False, True, True]


@pytest.mark.parametrize("user", ["joão", "山田", "x" * 600, "a b", "\x1f"])
async def test_a_summary_of_any_user_is_kept_and_found(hosted: PineconeSummaries, user: str) -> None:
    await hosted.put(await an_entry("train to Porto", user=user))
    assert await names(hosted, "train to Porto", user) == ["train to Porto"]
    assert await names(hosted, "train to Porto", "somebody") == []


async def test_a_new_summary_is_found_by_its_words_before_the_vendor_shows_it(
    hosted: PineconeSummaries, pinecone: FakePinecone
) -> None:
    pinecone.lag = 2
    await hosted.put(await an_entry("train to Porto"))
    assert [await names(hosted, "train") for _ in range(4)] == [["train to Porto"]] * 4
    assert len(pinecone.queries) == 4


async def test_a_removed_summary_that_the_vendor_still_shows_is_not_shown(
    hosted: PineconeSummaries, pinecone: FakePinecone
) -> None:
    await hosted.put(await an_entry("train to Porto"))
    kept = dict(pinecone.vectors)
    await hosted.remove(ME, "c1")
    assert pinecone.vectors == {}
    pinecone.vectors = kept
    assert await names(hosted, "train to Porto") == []


async def test_an_endless_summary_is_kept_whole_beside_small_metadata(
    hosted: PineconeSummaries, pinecone: FakePinecone
) -> None:
    overview = "部署" * 30_000
    await hosted.put(await an_entry("计划" * 20_000, overview=overview))
    [match] = await hosted.named(ME, ["c1"])
    assert match.overview == overview
    [vector] = pinecone.vectors.values()
    assert 0 < len(vector["metadata"]["title"].encode()) <= 2_000


async def test_a_vendor_that_forgets_its_filter_shows_nobody_anothers_talks(
    hosted: PineconeSummaries, pinecone: FakePinecone
) -> None:
    pinecone.forgets_filters = True
    await hosted.put(await an_entry("my train to Porto"))
    await hosted.put(await an_entry("your train to Porto", user="u2"))
    assert await names(hosted, "train to Porto") == ["my train to Porto"]
    assert all(query["filter"]["user_id"] == {"$eq": ME} for query in pinecone.queries)


async def test_while_the_vendor_is_down_words_still_find(hosted: PineconeSummaries, pinecone: FakePinecone) -> None:
    await hosted.put(await an_entry("train to Porto"))
    pinecone.failures = [403]
    assert await names(hosted, "train Porto") == ["train to Porto"]
    pinecone.failures = [503]
    assert await names(hosted, "train Porto") == ["train to Porto"]
    assert pinecone.failures == []


@pytest.mark.parametrize(("status", "words"), [(401, "key"), (403, "key"), (404, "missing"), (400, "refused")])
async def test_a_refusal_is_told_without_the_vendors_words(
    hosted: PineconeSummaries, pinecone: FakePinecone, status: int, words: str
) -> None:
    pinecone.failures = [status]
    with pytest.raises(ServiceFailed) as failure:
        await hosted.put(await an_entry("train"))
    assert words in failure.value.message
    assert "own words" not in failure.value.message


async def test_a_missing_index_is_made_at_the_start_and_never_in_a_request(
    hosted: PineconeSummaries, pinecone: FakePinecone
) -> None:
    pinecone.index = None
    with pytest.raises(ServiceFailed):
        await hosted.put(await an_entry("train"))
    assert pinecone.created == []
    await hosted.prepare()
    await hosted.put(await an_entry("train"))
    [made] = pinecone.created
    [field] = made["schema"]["fields"].values()
    assert (made["name"], field["dimension"], field["metric"]) == ("conversations", 384, "cosine")
    await hosted.prepare()
    assert len(pinecone.created) == 1


@pytest.mark.parametrize(("dimension", "metric"), [(768, "cosine"), (384, "dotproduct")])
async def test_an_index_for_other_vectors_is_told_at_the_start(
    hosted: PineconeSummaries, pinecone: FakePinecone, dimension: int, metric: str
) -> None:
    pinecone.index = a_description(dimension=dimension, metric=metric)
    with pytest.raises(NotConfigured, match="PINECONE_INDEX_NAME"):
        await hosted.prepare()


async def test_a_start_without_network_goes_on(own: SqliteSummaries) -> None:
    unreachable = PineconeSummaries(SecretStr("pcsk_x"), PineconePlace(base_url="http://127.0.0.1:1"), own)
    async with asyncio.timeout(20):
        await unreachable.prepare()
    await unreachable.close()
