"""What every embedder promises; the real MiniLM is small enough to be asked itself."""

from collections.abc import Sequence
from math import sqrt, sumprod
from pathlib import Path

import pytest

from tertulia.adapters.embedded.minilm import MiniLmEmbedder
from tertulia.domain.errors import NotConfigured
from tertulia.ports import Embedder
from tests.model_files import model_library

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return MiniLmEmbedder(model_library("minilm").path("minilm"))


async def likeness(embedder: Embedder, first: str, second: str) -> float:
    one, other = await embedder.embed([first, second])
    return sumprod(one, other)


async def test_every_text_gets_a_vector_of_length_one(embedder: Embedder) -> None:
    vectors = await embedder.embed(["one", "", "   ", "\ud800", "多言語", "long " * 3000])

    assert [len(vector) for vector in vectors] == [384] * 6
    assert [sqrt(sumprod(vector, vector)) for vector in vectors] == [pytest.approx(1.0, abs=1e-5)] * 6


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert await embedder.embed([]) == []


async def test_a_text_has_the_same_vector_alone_and_among_others(embedder: Embedder) -> None:
    texts = [f"{'word ' * (number % 7)}number {number}" for number in range(70)]

    together = await embedder.embed(texts)

    for place in (0, 31, 32, 69):
        [alone] = await embedder.embed([texts[place]])
        assert sumprod(alone, together[place]) == pytest.approx(1.0, abs=1e-3)


async def test_near_meanings_are_near_and_far_ones_far(embedder: Embedder) -> None:
    near = await likeness(embedder, "I forgot my password", "How do I reset my login?")
    far = await likeness(embedder, "I went hiking in the mountains", "Stock prices fell on Tuesday")

    assert near > far + 0.2


def test_an_embedder_has_the_name_its_vectors_are_stored_with(embedder: Embedder) -> None:
    assert embedder.name == "all-MiniLM-L6-v2"


async def test_minilm_gives_the_values_of_its_publisher(embedder: Embedder) -> None:
    published: Sequence[float] = (0.0677, 0.0635, 0.0487, 0.0793, 0.0374)

    [vector] = await embedder.embed(["This is an example sentence"])

    assert vector[:5] == [pytest.approx(value, abs=0.005) for value in published]


async def test_what_comes_after_256_tokens_does_not_count(embedder: Embedder) -> None:
    assert await likeness(embedder, "apple " * 300, "apple " * 300 + "gravity telescope") == pytest.approx(
        1.0, abs=1e-3
    )


async def test_a_missing_model_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="tertulia models fetch"):
        await MiniLmEmbedder(tmp_path).prepare()
