"""What every conversation store promises of summaries, and every index of them."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from pydantic import SecretStr

from tertulia.adapters.aws.dynamodb_summaries import DynamoSummaries
from tertulia.adapters.embedded.sqlite_summaries import SqliteSummaries
from tertulia.adapters.embedded.stores import EmbeddedStores
from tertulia.adapters.pinecone import PineconePlace, PineconeSummaries
from tertulia.domain.errors import NotFound
from tertulia.domain.summaries import ActionItem, Digest, Revision, Summary, SummaryEntry, Vector
from tertulia.ports import ConversationStore
from tertulia.ports.follow_up import SummaryIndex
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder
from tests.fakes.kept_turns import ME, NOON, a_turn, begun
from tests.fakes.pinecone import FakePinecone

DIGEST = Digest(
    title="Zug nach Köln \ud800",
    overview="Ana fährt am Freitag.",
    action_items=(ActionItem.of("Karten kaufen", "Freitag"), ActionItem.of("Ana anrufen")),
)


@pytest.fixture
def conversations(stores: Stores) -> ConversationStore:
    return stores.conversations


@pytest.fixture(params=["own", "pinecone"])
async def index(request: pytest.FixtureRequest, stores: Stores) -> AsyncIterator[SummaryIndex]:
    """Return the index of the stores, by itself or beside a hosted one."""
    if request.param == "own":
        yield stores.summaries
        return
    server: FakePinecone = request.getfixturevalue("pinecone")
    hosted = PineconeSummaries(SecretStr("pcsk_x"), PineconePlace(base_url=server.address), stores.summaries)
    yield hosted
    await hosted.close()


def a_summary(last_number: int, digest: Digest = DIGEST) -> Summary:
    return Summary(digest=digest, last_number=last_number, made_at=NOON)


async def test_a_summary_is_kept_with_what_it_knows(conversations: ConversationStore) -> None:
    conversation = await begun(conversations)
    await conversations.summarize(conversation, a_summary(31))
    kept = await conversations.get(ME, conversation.id)
    assert (kept.title, kept.overview, kept.action_items) == ("Zug nach Köln ?", DIGEST.overview, DIGEST.action_items)
    assert (kept.summarized_number, kept.summarized_at) == (31, NOON)


async def test_being_summarized_changes_neither_the_order_nor_the_count(
    conversations: ConversationStore, clock: FakeClock
) -> None:
    first = await begun(conversations)
    clock.move(minutes=1)
    second = await begun(conversations, a_turn("t2", 2))
    clock.move(minutes=1)
    await conversations.summarize(first, a_summary(31))
    listed = (await conversations.page(ME)).items
    assert [each.id for each in listed] == [second.id, first.id]
    assert (listed[1].message_count, listed[1].updated_at) == (first.message_count, first.updated_at)


async def test_a_turn_that_comes_later_keeps_the_summary(conversations: ConversationStore) -> None:
    conversation = await begun(conversations)
    await conversations.summarize(conversation, a_summary(31))
    await conversations.append(conversation, a_turn("t2", 2))
    kept = await conversations.get(ME, conversation.id)
    assert (kept.overview, kept.action_items, kept.message_count) == (DIGEST.overview, DIGEST.action_items, 4)


async def test_a_summary_that_knows_less_never_replaces_one_that_knows_more(conversations: ConversationStore) -> None:
    conversation = await begun(conversations)
    await conversations.summarize(conversation, a_summary(47))
    late = a_summary(31, Digest(title="late", overview="late"))
    await conversations.summarize(conversation, late)
    assert (await conversations.get(ME, conversation.id)).overview == DIGEST.overview


async def test_a_deleted_conversation_cannot_be_summarized(conversations: ConversationStore) -> None:
    conversation = await begun(conversations)
    await conversations.delete(conversation)
    with pytest.raises(NotFound):
        await conversations.summarize(conversation, a_summary(31))
    assert (await conversations.page(ME)).items == ()


async def an_entry(conversation_id: str, text: str, user: str = ME, model: str = "words-1") -> SummaryEntry:
    [values] = await WordEmbedder(model).embed([text])
    return SummaryEntry(
        user=user,
        conversation_id=conversation_id,
        title=text,
        overview=f"about {text}",
        created_at=NOON + timedelta(seconds=1),
        vector=Vector(tuple(values), model),
    )


async def found(index: SummaryIndex, text: str, limit: int = 5, user: str = ME) -> list[str]:
    [values] = await WordEmbedder().embed([text])
    return [match.title for match in await index.nearest(user, Vector(tuple(values), "words-1"), limit)]


async def test_the_nearest_summary_comes_first_with_all_its_fields(index: SummaryIndex) -> None:
    for place, text in enumerate(("train to Porto", "train", "a cake")):
        await index.put(await an_entry(f"c{place}", text))
    assert (await found(index, "train to Porto", 2), await found(index, "x", 0)) == (["train to Porto", "train"], [])
    [values] = await WordEmbedder().embed(["a cake"])
    [match] = await index.nearest(ME, Vector(tuple(values), "words-1"), 1)
    assert match.score == pytest.approx(1.0, abs=1e-5)
    assert (match.user, match.conversation_id, match.overview) == (ME, "c2", "about a cake")
    assert match.created_at == NOON + timedelta(seconds=1)


async def test_a_new_summary_takes_the_place_of_the_old_one(index: SummaryIndex) -> None:
    await index.put(await an_entry("c1", "old words"))
    await index.put(await an_entry("c1", "new words"))
    assert await found(index, "old words") == ["new words"]


async def test_nobody_finds_or_removes_what_is_another_users(index: SummaryIndex) -> None:
    for user in ("ana", "ana#c", "ana\x1f", "Ana"):
        await index.put(await an_entry("c1", f"secret of {user!r}", user))
    assert await found(index, "secret", user="ana") == ["secret of 'ana'"]
    await index.remove("ana", "c1")
    await index.remove_all("Ana")
    await index.remove("nobody", "c1")
    assert [await found(index, "secret", user=user) for user in ("ana", "Ana")] == [[], []]
    assert await found(index, "secret", user="ana#c") == ["secret of 'ana#c'"]


async def test_vectors_of_another_model_are_not_compared(index: SummaryIndex) -> None:
    await index.put(await an_entry("c1", "train", model="another"))
    assert await found(index, "train") == []


async def sharing(index: SummaryIndex, text: str, limit: int = 5, user: str = ME) -> list[str]:
    return [match.title for match in await index.with_words(user, text, limit)]


@pytest.mark.parametrize("query", ["部署", "部署方案", "回滚", "回"])
async def test_scripts_without_spaces_are_searched_by_any_part(index: SummaryIndex, query: str) -> None:
    await index.put(await an_entry("c1", "今天讨论了部署方案和回滚步骤"))
    await index.put(await an_entry("c2", "周末去爬山"))
    assert await sharing(index, query) == ["今天讨论了部署方案和回滚步骤"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("@nasa", ["nasa budget"]),
        ("50%", ["50 percent"]),
        ("C++", ["c compiler"]),
        ("it's", ["it s"]),
        ("a-b", ["a b test"]),
        ("summary:hello", ["hello world"]),
        ('hello" OR "nasa', ["hello world", "nasa budget"]),
        ("hello AND NOT words", ["hello world"]),
        ("ＮＡＳＡ", ["nasa budget"]),
        ('"', []),
        ("(", []),
        ("*", []),
        ("!!!", []),
        ("", []),
        ("nasa*", ["nasa budget"]),
    ],
)
async def test_nothing_in_a_question_is_read_as_syntax(index: SummaryIndex, query: str, found: list[str]) -> None:
    for place, text in enumerate(("nasa budget", "50 percent", "c compiler", "it s", "a b test", "hello world")):
        await index.put(await an_entry(f"c{place}", text))
    assert sorted(await sharing(index, query)) == found


async def test_words_of_old_and_removed_summaries_find_nothing(index: SummaryIndex) -> None:
    await index.put(await an_entry("c1", "alpha"))
    await index.put(await an_entry("c1", "beta"))
    assert (await sharing(index, "alpha"), await sharing(index, "beta")) == ([], ["beta"])
    await index.remove(ME, "c1")
    assert (await sharing(index, "alpha"), await sharing(index, "beta")) == ([], [])
    await index.put(await an_entry("c1", "gamma"))
    assert await sharing(index, "beta gamma") == ["gamma"]
    await index.remove_all(ME)
    assert await sharing(index, "gamma") == []
    await index.put(await an_entry("c2", "gamma delta"))
    assert (await sharing(index, "gamma"), await found(index, "gamma delta")) == (["gamma delta"], ["gamma delta"])


async def test_words_that_few_summaries_hold_count_most(index: SummaryIndex) -> None:
    for place in range(12):
        await index.put(await an_entry(f"c{place}", f"the trip number{place}"))
    await index.put(await an_entry("porto", "the port wine"))
    [match] = await index.with_words(ME, "the wine", 3)
    assert (match.conversation_id, round(match.score, 6)) == ("porto", 1.0)
    usual = await index.with_words(ME, "the trip", 3)
    assert len(usual) == 3
    assert all(match.score <= 0.3 for match in usual)
    assert await index.with_words(ME, "wine", 0) == []


async def test_nobody_finds_another_users_words(index: SummaryIndex) -> None:
    for user in ("ana", "ana#c", "Ana"):
        await index.put(await an_entry("c1", f"secret of {user}", user))
    assert await sharing(index, "secret", user="ana") == ["secret of ana"]
    assert await sharing(index, "secret", user="nobody") == []
    await index.remove_all("Ana")
    assert [await sharing(index, "secret", user=user) for user in ("Ana", "ana#c")] == [[], ["secret of ana#c"]]


async def test_what_another_process_writes_and_removes_is_seen(stores: Stores, index: SummaryIndex) -> None:
    other = another_process(stores)
    for place, text in enumerate(("one tree", "two houses")):
        await index.put(await an_entry(f"c{place}", text))
    assert await found(other, "one tree") == ["one tree", "two houses"]
    await index.put(await an_entry("c2", "three cars"))
    await index.remove(ME, "c0")
    assert (await found(other, "three cars"), await sharing(other, "tree")) == (["three cars", "two houses"], [])
    assert await sharing(other, "cars") == ["three cars"]
    await index.remove_all(ME)
    assert await found(other, "two houses") == []


def another_process(stores: Stores) -> SummaryIndex:
    if isinstance(stores, EmbeddedStores):
        return SqliteSummaries(stores._database)
    return DynamoSummaries(stores.table, stores._clock)


async def test_another_title_is_found_by_its_words(index: SummaryIndex) -> None:
    await index.put(await an_entry("c1", "alpha"))
    await index.retitle(ME, "c1", "beta")
    await index.retitle(ME, "unknown", "beta")
    assert await sharing(index, "beta") == ["beta"]
    assert await found(index, "alpha") == ["beta"]


async def test_what_a_person_changes_outlives_a_summary_written_meanwhile(conversations: ConversationStore) -> None:
    conversation = await begun(conversations)
    await conversations.summarize(conversation, a_summary(31))
    [tickets, _] = DIGEST.action_items
    revised = await conversations.revise(conversation, Revision(title="Köln \ud800", done={tickets.id: True}))
    assert (revised.title, revised.is_titled) == ("Köln ?", True)
    await conversations.summarize(conversation, a_summary(47))
    kept = await conversations.get(ME, conversation.id)
    assert (kept.title, [item.done for item in kept.action_items]) == ("Köln ?", [True, False])
    assert kept.updated_at == conversation.updated_at
    with pytest.raises(NotFound):
        await conversations.revise(conversation, Revision(title="new", done={"unknown": True}))
    assert (await conversations.get(ME, conversation.id)).title == "Köln ?"
    await conversations.delete(conversation)
    with pytest.raises(NotFound):
        await conversations.revise(conversation, Revision(title="new"))
