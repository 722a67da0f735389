"""Vectors side by side are found as if each were compared by itself, with numpy and without."""

import math
import random
import sys

import pytest

from tertulia.adapters.keyword_index import MOST_COMPARED, KeywordIndex
from tertulia.adapters.vector_shelf import VectorShelf
from tertulia.adapters.vectors import blob_of

SIZE = 8


def a_vector(dice: random.Random) -> list[float]:
    numbers = [dice.gauss(0, 1) for _ in range(SIZE)]
    length = math.hypot(*numbers)
    return [number / length for number in numbers]


@pytest.fixture(params=["numpy", "plain"])
def shelf(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> VectorShelf:
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "numpy", None)
    return VectorShelf()


def test_the_nearest_are_found_whatever_came_and_went(shelf: VectorShelf) -> None:
    dice = random.Random(3)  # noqa: S311
    kept: dict[str, list[float]] = {}
    for step in range(400):
        name = f"v{dice.randrange(150)}"
        if dice.random() < 0.3:
            kept.pop(name, None)
            shelf.remove(name)
        else:
            kept[name] = a_vector(dice)
            shelf.put(name, blob_of(kept[name]))
        if step % 40 == 39:
            asked = a_vector(dice)
            likenesses = {each: math.sumprod(asked, vector) for each, vector in kept.items()}
            compared = shelf.compared(asked)
            best = sorted(likenesses, key=likenesses.__getitem__, reverse=True)[:5]
            assert set(compared.nearest(5, -1.0)) == set(best)
            assert set(compared.nearest(1_000, 0.3)) == {each for each, like in likenesses.items() if like >= 0.3}
            assert all(compared.of(each) == pytest.approx(like, abs=1e-6) for each, like in likenesses.items())
            assert compared.of("never there") == 0.0


def test_nothing_is_near_a_vector_of_another_length(shelf: VectorShelf) -> None:
    shelf.put("a", blob_of([1.0, 0.0]))
    assert shelf.compared([1.0, 0.0, 0.0]).nearest(5, -1.0) == []
    assert VectorShelf().compared([1.0]).nearest(5, -1.0) == []


def test_the_rarest_words_decide_where_all_texts_share_the_others() -> None:
    index = KeywordIndex()
    for place in range(MOST_COMPARED + 1):
        index.put(str(place), f"I like number{place}")
    assert index.scores("do I like number7?") == {"7": 1.0}
    index.remove("7")
    assert index.scores("number7") == {}
