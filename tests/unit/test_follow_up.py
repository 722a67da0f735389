"""What follows a turn: when a conversation is summarized, what is learned, and that doing it twice is doing it once."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.stores import EmbeddedStores
from tertulia.answering.digests import ModelSummarizer
from tertulia.answering.facts import ModelFactFinder
from tertulia.domain.errors import ModelDown, ProviderFailed, Unavailable
from tertulia.domain.prompts import Prompt
from tertulia.domain.summaries import ActionItem, Vector
from tertulia.domain.turns import Conversation, Turn
from tertulia.usecases.follow_up import SummaryIsDue
from tertulia.usecases.index_summary import IndexSummary
from tertulia.usecases.remember import Remember
from tertulia.usecases.summarize import TURNS_AT_ONCE, Summarize
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import WordEmbedder
from tests.fakes.kept_turns import ME, a_failed_turn, a_turn, begun
from tests.fakes.scripted import Script, ScriptedModel


def facts(*quotes: str, topic: str = "preference", passing: bool = False) -> Script:
    return (json.dumps({"facts": [{"words": quote, "topic": topic, "passing": passing} for quote in quotes]}),)


def digest(title: str = "A title", overview: str = "An overview.", items: Sequence[Any] = ()) -> Script:
    return (json.dumps({"title": title, "overview": overview, "action_items": list(items)}),)


@dataclass
class Bench:
    """The use cases over one database, with a scripted model."""

    stores: EmbeddedStores
    clock: FakeClock
    model: ScriptedModel = field(default_factory=ScriptedModel)

    def scripted(self, *scripts: Script) -> "Bench":
        self.model = ScriptedModel(scripts=scripts)
        return self

    @property
    def remember(self) -> Remember:
        return Remember(
            conversations=self.stores.conversations,
            memories=self.stores.memories(WordEmbedder()),
            finder=ModelFactFinder(self.model),
            counter=self.stores.rates,
        )

    @property
    def summarize(self) -> Summarize:
        return Summarize(
            conversations=self.stores.conversations, summarizer=ModelSummarizer(self.model), clock=self.clock
        )

    @property
    def is_due(self) -> SummaryIsDue:
        return SummaryIsDue(conversations=self.stores.conversations, clock=self.clock)

    @property
    def index(self) -> IndexSummary:
        return IndexSummary(
            conversations=self.stores.conversations, embedder=WordEmbedder(), summaries=self.stores.summaries
        )

    async def begun(self, *turns: Turn) -> Conversation:
        return await begun(self.stores.conversations, *turns)

    async def known(self) -> list[str]:
        return [memory.content for memory in await self.stores.memories(WordEmbedder()).list(ME)]

    def asked(self, call: int = -1) -> str:
        prompt: Prompt = self.model.prompts[call]
        return prompt.messages[-1].text


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    database, clock = Database(tmp_path / "tertulia.db"), FakeClock()
    yield Bench(EmbeddedStores(database, tmp_path, clock), clock)
    await database.close()


async def test_what_the_user_says_about_themselves_is_remembered(bench: Bench) -> None:
    await bench.begun(a_turn("t1", text="I'm allergic to peanuts. What can I cook?"))
    bench.scripted(facts("I'm allergic to peanuts", topic="health"))
    assert await bench.remember(ME, "t1") == 1
    [memory] = await bench.stores.memories(WordEmbedder()).list(ME)
    assert (memory.content, memory.category, memory.importance) == ("I'm allergic to peanuts", "fact", 0.9)
    assert (memory.kind, memory.expires_at) == ("long_term", None)


async def test_what_soon_passes_is_forgotten_after_two_days(bench: Bench) -> None:
    await bench.begun(a_turn("t1", text="My train leaves at nine tomorrow", created_at=bench.clock.now()))
    bench.scripted(facts("My train leaves at nine tomorrow", topic="schedule", passing=True))
    await bench.remember(ME, "t1")
    bench.clock.move(hours=47)
    assert await bench.known() == ["My train leaves at nine tomorrow"]
    bench.clock.move(hours=2)
    assert await bench.known() == []


async def test_the_model_reads_the_users_words_alone(bench: Bench) -> None:
    await bench.begun(a_turn("t1", text="plan my day", answer="You like tea.", memories_used=("likes tea",)))
    bench.scripted(facts("You like tea", "likes tea"))
    assert await bench.remember(ME, "t1") == 0
    assert bench.asked() == "plan my day"
    assert "like tea" not in "".join(
        message.text for message in bench.model.prompts[0].messages if message.role == "user"
    )


@pytest.mark.parametrize(
    "answer",
    [
        "I'm a language model.",
        "",
        '{"facts": [{"words": "I like t',
        "[1, 2]",
    ],
)
async def test_an_answer_that_cannot_be_read_is_a_failure_that_may_pass(bench: Bench, answer: str) -> None:
    await bench.begun(a_turn("t1", text="I like tea"))
    with pytest.raises(ProviderFailed) as failure:
        await bench.scripted((answer,)).remember(ME, "t1")
    assert failure.value.retryable
    assert await bench.known() == []


@pytest.mark.parametrize(
    "answer",
    [
        '{"facts": null}',
        '{"facts": [1, null, "I like tea", {"words": 5}, {"words": "I love dogs"}, {"topic": "fact"}]}',
        '{"facts": {"words": "I like tea"}}',
        "{}",
    ],
)
async def test_facts_of_the_wrong_shape_are_no_facts(bench: Bench, answer: str) -> None:
    await bench.begun(a_turn("t1", text="I like tea"))
    assert await bench.scripted((answer,)).remember(ME, "t1") == 0


@pytest.mark.parametrize(
    "dressing",
    ["```json\n{}\n```", "<think>They like {tea}</think>{}", "Here it is: {} I hope that helps.", "{}"],
)
async def test_an_object_is_read_however_it_is_dressed(bench: Bench, dressing: str) -> None:
    await bench.begun(a_turn("t1", text="I like tea"))
    [answer] = facts("I like tea", topic="astrology")  # type: ignore[misc]  # one string
    assert await bench.scripted((dressing.replace("{}", str(answer)),)).remember(ME, "t1") == 1


async def test_remembering_the_same_turn_twice_is_remembering_it_once(bench: Bench) -> None:
    await bench.begun(a_turn("t1", text="I like tea and I live in Porto"))
    bench.scripted(
        facts("I like tea", "I live in Porto", "live in Porto", "i like tea"), facts("I live in Porto", "I like tea")
    )
    assert [await bench.remember(ME, "t1") for _ in range(2)] == [2, 2]
    assert sorted(await bench.known()) == ["I like tea", "I live in Porto"]


async def test_failed_and_foreign_and_wordless_turns_teach_nothing(bench: Bench) -> None:
    await bench.begun(a_failed_turn("failed", text="I like tea"), a_turn("wordless", 2, text=" "), a_turn("t3", 3))
    bench.scripted(facts("I like tea"))
    for user, turn_id in ((ME, "failed"), (ME, "wordless"), (ME, "unknown"), ("stranger", "t3")):
        assert await bench.remember(user, turn_id) == 0
    assert bench.model.prompts == []


async def test_a_conversation_is_summarized_from_its_second_turn_on(bench: Bench) -> None:
    conversation = await bench.begun(a_turn("t1"))
    assert not await bench.is_due(ME, conversation.id, "t1")
    await bench.stores.conversations.append(conversation, a_turn("t2", 2))
    assert await bench.is_due(ME, conversation.id, "t2")
    assert not await bench.is_due(ME, "ffff", "t2")
    assert not await bench.is_due("stranger", conversation.id, "t2")


async def test_of_a_burst_only_the_last_turn_summarizes(bench: Bench) -> None:
    turns = [a_turn(f"t{place}", place) for place in range(1, 6)]
    conversation = await bench.begun(*turns, a_failed_turn("t6", 6))
    due = [await bench.is_due(ME, conversation.id, turn.id) for turn in turns]
    assert due == [False, False, False, False, True]


async def test_a_talk_without_a_pause_is_summarized_every_five_minutes(bench: Bench) -> None:
    conversation = await bench.begun(a_turn("t1"), a_turn("t2", 2), a_turn("t3", 3))
    assert not await bench.is_due(ME, conversation.id, "t2")
    bench.clock.move(minutes=5)
    assert await bench.is_due(ME, conversation.id, "t2")
    await bench.scripted(digest()).summarize(ME, conversation.id, "t2")
    assert not await bench.is_due(ME, conversation.id, "t2")


async def test_a_summary_has_a_title_an_overview_and_items_in_the_language_of_the_talk(bench: Bench) -> None:
    told = a_turn("t1", text="Ich muss noch Karten holen und Ana anrufen", language="de")
    conversation = await bench.begun(told, a_turn("t2", 2, language="de"))
    items: list[Any] = [{"text": "Karten kaufen", "due": "Freitag"}, "Ana anrufen", {"text": " "}, 7]
    items += ["Was ist die Hauptstadt von Portugal?", "Wetterbericht lesen"]
    bench.scripted(digest('"Zug nach Köln."', "Ana fährt.", items))
    summary = await bench.summarize(ME, conversation.id, "t2")
    kept = await bench.stores.conversations.get(ME, conversation.id)
    assert summary
    assert summary.digest == kept.digest
    assert (kept.title, kept.overview) == ("Zug nach Köln", "Ana fährt.")
    assert kept.action_items == (ActionItem.of("Karten kaufen", "2030-06-07"), ActionItem.of("Ana anrufen"))
    assert "German" in bench.model.prompts[0].messages[0].text


async def test_a_summary_reads_the_last_one_and_only_what_came_since(bench: Bench) -> None:
    conversation = await bench.begun(*(a_turn(f"t{place}", place) for place in (1, 2)))
    bench.scripted(digest("First"), digest("Second"))
    await bench.summarize(ME, conversation.id, "t2")
    await bench.stores.conversations.append(conversation, a_turn("t3", 3))
    await bench.summarize(ME, conversation.id, "t3")
    assert "First" in bench.asked()
    assert ("question t2" in bench.asked(), "question t3" in bench.asked()) == (False, True)
    assert (await bench.stores.conversations.get(ME, conversation.id)).title == "Second"


async def test_summarizing_the_same_turn_twice_asks_the_model_once(bench: Bench) -> None:
    conversation = await bench.begun(a_turn("t1"), a_turn("t2", 2))
    bench.scripted(digest())
    first = await bench.summarize(ME, conversation.id, "t2")
    assert first == await bench.summarize(ME, conversation.id, "t2")
    assert len(bench.model.prompts) == 1


async def test_the_cost_of_a_turn_does_not_grow_with_its_conversation(bench: Bench) -> None:
    long = "ein langer Satz über Züge, " * 20
    conversation = await bench.begun(a_turn("t1", text=long), a_turn("t2", 2, text=long))
    bench.scripted(digest(overview="o" * 5_000, items=[f"item {place}" for place in range(50)]))
    sizes = []
    for place in range(3, 30):
        await bench.stores.conversations.append(conversation, a_turn(f"t{place}", place, text=long, answer=long))
        await bench.summarize(ME, conversation.id, f"t{place}")
        sizes.append(len(bench.asked()))
    assert max(sizes[2:]) - min(sizes[2:]) < 20


@pytest.mark.parametrize("letters", ["question ", "部署方案"])
async def test_a_conversation_of_300_kb_is_summarized_in_calls_a_small_model_can_read(
    bench: Bench, letters: str
) -> None:
    size = 300_000 // len(letters.encode())
    turns = [a_turn(f"t{place}", place, text=letters * (size // 30)) for place in range(1, 31)]
    conversation = await bench.begun(*turns)
    bench.scripted(digest())
    summary = await bench.summarize(ME, conversation.id, "t30")
    assert summary
    assert summary.last_number == turns[-1].answer_number
    assert len(bench.model.prompts) == -(-30 // TURNS_AT_ONCE)
    assert all(len(message.text) < 9_000 for prompt in bench.model.prompts for message in prompt.messages)


async def test_a_failing_model_leaves_what_was_known(bench: Bench) -> None:
    conversation = await bench.begun(a_turn("t1"), a_turn("t2", 2))
    await bench.scripted(digest("Kept")).summarize(ME, conversation.id, "t2")
    await bench.stores.conversations.append(conversation, a_turn("t3", 3))
    for script in ((ModelDown(),), ("no idea",), digest(title=" "), digest(overview="")):
        with pytest.raises(ProviderFailed):
            await bench.scripted(script).summarize(ME, conversation.id, "t3")
    assert (await bench.stores.conversations.get(ME, conversation.id)).title == "Kept"


async def test_a_backlog_goes_on_where_a_failure_ended_it(bench: Bench) -> None:
    turns = [a_turn(f"t{place}", place) for place in range(1, TURNS_AT_ONCE + 3)]
    conversation = await bench.begun(*turns)
    bench.scripted(digest("Half"), (ModelDown(),), digest("Whole"))
    with pytest.raises(ModelDown):
        await bench.summarize(ME, conversation.id, turns[-1].id)
    await bench.summarize(ME, conversation.id, turns[-1].id)
    assert "question t1\n" not in bench.asked()
    assert (await bench.stores.conversations.get(ME, conversation.id)).title == "Whole"


async def test_a_summary_is_indexed_by_title_and_overview(bench: Bench) -> None:
    conversation = await bench.begun(a_turn("t1"), a_turn("t2", 2))
    await bench.index(ME, conversation.id)
    assert await _matches(bench, "train porto") == []
    await bench.scripted(digest("train", "porto")).summarize(ME, conversation.id, "t2")
    for _ in range(2):
        await bench.index(ME, conversation.id)
    [match] = await _matches(bench, "train porto")
    assert (match, (await bench.stores.conversations.get(ME, conversation.id)).id) == (conversation.id, match)


async def _matches(bench: Bench, text: str) -> list[str]:
    [values] = await WordEmbedder().embed([text])
    matches = await bench.stores.summaries.nearest(ME, Vector(tuple(values), "words-1"), 5)
    return [match.conversation_id for match in matches if match.score > 0.99]


async def test_a_conversation_deleted_meanwhile_leaves_nothing_behind(bench: Bench) -> None:
    conversation = await bench.begun(a_turn("t1"), a_turn("t2", 2))
    await bench.scripted(digest("train", "porto")).summarize(ME, conversation.id, "t2")
    embedder = WordEmbedder()

    class DeletingEmbedder(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            await bench.stores.conversations.delete(conversation)
            return await embedder.embed(texts)

    await replace(bench.index, embedder=DeletingEmbedder())(ME, conversation.id)
    assert await _matches(bench, "train porto") == []
    assert await bench.summarize(ME, conversation.id, "t2") is None
    assert not await bench.is_due(ME, conversation.id, "t2")
    await bench.index(ME, conversation.id)


async def test_a_changed_fact_ends_the_old_one(bench: Bench) -> None:
    now = bench.clock.now()
    turns = [a_turn("t1", text="I live in Porto", created_at=now)]
    turns += [a_turn("t2", text="I live in Berlin", number=64, created_at=now + timedelta(days=3))]
    await bench.begun(*turns)
    for turn in turns:
        await bench.scripted(facts(turn.text, topic="fact")).remember(ME, turn.id)
    bench.clock.move(days=4)
    memories = bench.stores.memories(WordEmbedder())
    assert [memory.content for memory in await memories.recall(ME, "where do I live in?", 5)] == ["I live in Berlin"]
    [berlin, porto] = await memories.list(ME)
    assert (porto.valid_from, porto.valid_to) == (turns[0].created_at, turns[1].created_at)
    assert (berlin.valid_from, berlin.valid_to) == (turns[1].created_at, None)


async def test_what_is_over_is_recalled_no_more(bench: Bench) -> None:
    now = bench.clock.now()
    turns = [a_turn("t1", text="I drink coffee every day", created_at=now)]
    turns += [a_turn("t2", text="I don't drink coffee anymore", number=64, created_at=now + timedelta(days=3))]
    await bench.begun(*turns)
    for turn in turns:
        await bench.scripted(facts(turn.text, topic="habit")).remember(ME, turn.id)
    bench.clock.move(days=4)
    memories = bench.stores.memories(WordEmbedder())
    assert [memory.content for memory in await memories.recall(ME, "I drink coffee", 5)] == [turns[1].text]


async def test_two_turns_of_a_user_are_learned_from_at_once_and_a_third_waits(bench: Bench) -> None:
    await bench.begun(a_turn("t1", text="I like tea"))
    for mark in ("a", "b"):
        await bench.stores.rates.hit(ME, "learning", 2, 300, mark)
    with pytest.raises(Unavailable) as failure:
        await bench.scripted(facts("I like tea")).remember(ME, "t1")
    assert failure.value.retryable
    await bench.stores.rates.forget(ME, "learning", "a")
    assert await bench.remember(ME, "t1") == 1
    assert await bench.remember(ME, "t1") == 1


async def test_an_answer_leaves_a_trace_on_the_memories_it_used(bench: Bench) -> None:
    await bench.begun(a_turn("t1", text="I like tea"))
    await bench.scripted(facts("I like tea")).remember(ME, "t1")
    memories = bench.stores.memories(WordEmbedder())
    [tea] = await memories.list(ME)
    await bench.begun(a_turn("t2", text="plan my day", memories_used=(tea.id,)))
    await bench.scripted(facts()).remember(ME, "t2")
    assert (await bench.stores.memories(WordEmbedder()).get(ME, tea.id)).access_count == 1


async def test_ids_are_numbers_that_javascript_can_hold(bench: Bench) -> None:
    await bench.begun(a_turn("t1", text="I like tea, and I like jazz", created_at=bench.clock.now()))
    await bench.scripted(facts("I like tea", "I like jazz")).remember(ME, "t1")
    numbers = [int(memory.id) for memory in await bench.stores.memories(WordEmbedder()).list(ME)]
    assert len(set(numbers)) == 2
    assert all(0 < number < 2**53 for number in numbers)
