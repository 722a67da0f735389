"""Past conversations are found by meaning and by words, other people's never, and nothing where nothing fits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tertulia.domain.errors import Unauthorized
from tertulia.domain.summaries import Match, SummaryEntry, Vector
from tertulia.usecases.search import Search
from tests.fakes.embedder import WordEmbedder
from tests.fakes.kept_turns import ME, NOON


def a_match(name: str, score: float, user: str = ME) -> Match:
    return Match(user=user, conversation_id=name, title=name, overview="", created_at=NOON, score=score)


@dataclass
class Found:
    """An index that finds what it is told, whoever asks."""

    near: Sequence[Match] = ()
    sharing: Sequence[Match] = ()
    asked: list[str] = field(default_factory=list)

    async def put(self, entry: SummaryEntry) -> None:
        raise AssertionError

    async def nearest(self, user: str, vector: Vector, limit: int) -> list[Match]:
        self.asked.append(user)
        return list(self.near)

    async def with_words(self, user: str, text: str, limit: int) -> list[Match]:
        self.asked.append(user)
        return list(self.sharing)

    async def named(self, user: str, conversation_ids: Sequence[str]) -> list[Match]:
        raise AssertionError

    async def retitle(self, user: str, conversation_id: str, title: str) -> None:
        raise AssertionError

    async def remove(self, user: str, conversation_id: str) -> None:
        raise AssertionError

    async def remove_all(self, user: str) -> None:
        raise AssertionError


def search_in(index: Found) -> Search:
    return Search(embedder=WordEmbedder(), summaries=index)


async def names(index: Found, query: str = "my trip", limit: int = 5) -> list[str]:
    return [match.conversation_id for match in await search_in(index)(ME, query, limit)]


async def test_hits_of_another_user_are_dropped_even_if_the_index_forgets_its_filter() -> None:
    index = Found(near=[a_match("mine", 0.5), a_match("theirs", 0.9, "u2")], sharing=[a_match("theirs too", 1.0, "u2")])
    assert await names(index) == ["mine"]
    assert set(index.asked) == {ME}


async def test_a_search_without_a_user_is_refused() -> None:
    index = Found(near=[a_match("mine", 0.9)])
    with pytest.raises(Unauthorized):
        await search_in(index)("", "my trip")
    assert index.asked == []


async def test_what_is_found_both_ways_comes_first() -> None:
    index = Found(
        near=[a_match("meaning", 0.6), a_match("both", 0.5)], sharing=[a_match("words", 0.7), a_match("both", 0.6)]
    )
    assert await names(index) == ["both", "meaning", "words"]
    assert await names(index, limit=1) == ["both"]
    scores = [match.score for match in await search_in(index)(ME, "my trip")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


async def test_of_the_equally_good_the_latest_comes_first() -> None:
    late = Match(user=ME, conversation_id="late", title="", overview="", created_at=NOON + timedelta(days=1), score=0.5)
    assert await names(Found(near=[a_match("early", 0.5), late])) == ["late", "early"]


@pytest.mark.parametrize(
    ("likeness", "share", "is_found"),
    [
        (0.32, 0.0, False),
        (0.33, 0.0, True),
        (0.1, 0.49, False),
        (0.0, 0.5, True),
        (0.2, 0.15, True),
        (0.19, 0.3, False),
    ],
)
async def test_what_is_only_a_little_alike_is_not_found(likeness: float, share: float, is_found: bool) -> None:
    index = Found(near=[a_match("it", likeness)], sharing=[a_match("it", share)] if share else [])
    assert await names(index) == (["it"] if is_found else [])


@pytest.mark.parametrize("query", ["部署方案", "как дела", "京都の宿", "식당"])
async def test_scripts_that_the_embedder_cannot_read_are_searched_by_words_alone(query: str) -> None:
    index = Found(near=[a_match("noise", 0.8)], sharing=[a_match("it", 0.2)])
    assert await names(index, query) == ["it"]


@pytest.mark.parametrize("query", ["", "  ", "!!!", "*", "\x00", "🎉"])
async def test_a_question_without_words_finds_nothing(query: str) -> None:
    index = Found(near=[a_match("it", 0.9)])
    assert await names(index, query) == []
    assert index.asked == []


async def test_half_a_character_and_endless_questions_are_searched_all_the_same() -> None:
    index = Found(near=[a_match("it", 0.9)])
    assert await names(index, "trip \ud800") == ["it"]
    assert await names(index, "trip " * 100_000) == ["it"]
