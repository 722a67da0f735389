"""How often the real embedding model and the examples name the right route of words they have not seen."""

import json
from pathlib import Path

import pytest

from tertulia.adapters.embedded.minilm import MiniLmEmbedder
from tertulia.answering.classifiers import ExampleClassifier, route_examples
from tertulia.domain.surfaces import Route
from tests.model_files import model_library

UTTERANCES: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "recordings" / "route_utterances.json").read_text("utf-8")
)


@pytest.mark.models
async def test_the_examples_name_the_right_route_for_most_of_a_labeled_set() -> None:
    classifier = ExampleClassifier(MiniLmEmbedder(model_library("minilm").path("minilm")), route_examples())
    wrong = [
        (text, route)
        for route, texts in UTTERANCES.items()
        for text in texts
        if (await classifier.classify(text) or Route.SIMPLE) != route
    ]
    right = 1 - len(wrong) / sum(map(len, UTTERANCES.values()))
    assert right >= 0.85, wrong
