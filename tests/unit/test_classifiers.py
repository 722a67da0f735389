"""The two classifiers: a model's one word, and the nearest examples."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tertulia.answering.classifiers import ExampleClassifier, ModelClassifier, route_examples, route_named
from tertulia.domain.errors import ModelBusy, ProviderTimeout
from tertulia.domain.surfaces import Route
from tests.fakes.scripted import ScriptedModel

UTTERANCES: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "recordings" / "route_utterances.json").read_text("utf-8")
)


@pytest.mark.parametrize(
    ("answer", "route"),
    [
        ("context", Route.CONTEXT),
        ("Context.", Route.CONTEXT),
        (" **persona**\n", Route.PERSONA),
        ('"simple"', Route.SIMPLE),
        ("`simple`", Route.SIMPLE),
        ("Route: context", Route.CONTEXT),
        ("The route is persona.", Route.PERSONA),
        ('{"route": "context"}', Route.CONTEXT),
        ("<think>simple or context?</think>\n\ncontext", Route.CONTEXT),
        (
            "<|channel|>analysis<|message|>persona?<|end|><|start|>assistant<|channel|>final<|message|>simple",
            Route.SIMPLE,
        ),
        ("", None),
        ("simple or context", None),
        ("The capital is Paris.", None),
        ("contextual", None),
        ("<think>context", None),
    ],
)
def test_a_models_answer_is_read_whatever_its_dress(answer: str, route: Route | None) -> None:
    assert route_named(answer) is route


async def test_the_model_is_asked_for_one_word_without_chance() -> None:
    model = ScriptedModel([("con", "text")])
    assert await ModelClassifier(model=model).classify("x" * 9_999) is Route.CONTEXT
    [prompt] = model.prompts
    assert (prompt.temperature, prompt.max_tokens, prompt.seconds) == (0.0, 64, 2.0)
    assert [message.role for message in prompt.messages] == ["system", "user"]
    assert all(route.value in prompt.messages[0].text for route in Route)
    assert prompt.messages[1].text == "x" * 1_000


async def test_a_model_that_takes_too_long_is_a_timeout_and_is_stopped() -> None:
    model = ScriptedModel([("context",)], seconds_to_first=30)
    with pytest.raises(ProviderTimeout):
        await ModelClassifier(model=model, seconds=0.01).classify("Hello")
    assert model.stopped == 1


async def test_a_models_failure_is_passed_on() -> None:
    with pytest.raises(ModelBusy):
        await ModelClassifier(model=ScriptedModel([(ModelBusy(),)])).classify("Hello")


class LetterEmbedder:
    """Gives each text a direction by its first letter, so that nearness can be seen in a test."""

    name = "letters"

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.failures = 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.batches.append(len(texts))
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise ModelBusy
        return [_direction(text[0]) for text in texts]


def _direction(letter: str) -> list[float]:
    if letter == "m":
        return [0.5**0.5, 0.5**0.5, 0.0, 0.0]
    return [float(letter == known) for known in "scp"] + [float(letter not in "scpm")]


EXAMPLES = {
    Route.SIMPLE: ("s1", "s2", "s3", "x1"),
    Route.CONTEXT: ("c1", "c2", "c3", "x1"),
    Route.PERSONA: ("p1", "p2", "p3"),
}


@pytest.mark.parametrize(
    ("text", "route"),
    [("some", Route.SIMPLE), ("call", Route.CONTEXT), ("pirate", Route.PERSONA), ("mixed", None), ("far", None)],
)
async def test_the_nearest_examples_decide_unless_none_is_near_or_two_are(text: str, route: Route | None) -> None:
    classifier = ExampleClassifier(LetterEmbedder(), EXAMPLES, least_likeness=0.5)
    assert await classifier.classify(text) is route


async def test_examples_are_embedded_once_even_when_asked_side_by_side() -> None:
    embedder = LetterEmbedder()
    classifier = ExampleClassifier(embedder, EXAMPLES)
    await asyncio.gather(classifier.warm(), *(classifier.classify("some") for _ in range(3)))
    assert sorted(embedder.batches) == [1, 1, 1, 3, 4, 4]


async def test_examples_are_embedded_again_after_a_failure() -> None:
    embedder = LetterEmbedder()
    embedder.failures = 1
    classifier = ExampleClassifier(embedder, EXAMPLES)
    with pytest.raises(ModelBusy):
        await classifier.warm()
    assert await classifier.classify("call") is Route.CONTEXT


def test_each_route_has_at_least_twelve_examples_and_none_is_in_the_labeled_set() -> None:
    examples = route_examples()
    assert set(examples) == set(Route)
    assert all(len(set(texts)) >= 12 for texts in examples.values())
    known = {text.casefold() for texts in examples.values() for text in texts}
    labeled = [text for texts in UTTERANCES.values() for text in texts]
    assert len(set(labeled)) == len(labeled) >= 60
    assert known.isdisjoint(text.casefold() for text in labeled)
