"""The route of a turn: keyword, then classifier, then simple."""

import logging
from dataclasses import dataclass, field

import pytest

from tertulia.answering.routing import Router, tool_keywords
from tertulia.domain.errors import ModelBusy, ProviderTimeout, TertuliaError
from tertulia.domain.surfaces import SCREEN, SPOKEN, Route, RouteReason


@dataclass
class Classifier:
    """Names one route, or fails."""

    route: Route | None = None
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)

    async def classify(self, text: str) -> Route | None:
        self.asked.append(text)
        if self.error:
            raise self.error
        return self.route


async def test_a_surface_that_always_takes_one_route_asks_nobody() -> None:
    classifier = Classifier(Route.PERSONA)
    router = Router(tool_keywords(), classifier)
    assert await router.choose("add a task", "en-US", SCREEN) == (Route.CONTEXT, RouteReason.FALLBACK)
    assert classifier.asked == []


async def test_a_keyword_decides_without_the_classifier() -> None:
    classifier = Classifier(Route.SIMPLE)
    router = Router(tool_keywords(), classifier)
    chosen = await router.choose("Add a task to my to-do list", "en-US", SPOKEN)
    assert chosen == (Route.CONTEXT, RouteReason.KEYWORD)
    assert classifier.asked == []


@pytest.mark.parametrize("route", list(Route))
async def test_without_a_keyword_the_classifier_decides(route: Route) -> None:
    classifier = Classifier(route)
    router = Router(tool_keywords(), classifier)
    assert await router.choose("my cat reschedules itself", "en-US", SPOKEN) == (route, RouteReason.CLASSIFIER)
    assert classifier.asked == ["my cat reschedules itself"]


async def test_a_classifier_in_doubt_leaves_the_simple_route() -> None:
    router = Router(tool_keywords(), Classifier(None))
    assert await router.choose("Hm.", "en-US", SPOKEN) == (Route.SIMPLE, RouteReason.FALLBACK)


@pytest.mark.parametrize("error", [ModelBusy(), ProviderTimeout("secret path /x")])
async def test_a_failing_classifier_never_fails_the_turn(
    error: TertuliaError, caplog: pytest.LogCaptureFixture
) -> None:
    router = Router(tool_keywords(), Classifier(error=error))
    with caplog.at_level(logging.WARNING):
        assert await router.choose("Hm.", "en-US", SPOKEN) == (Route.SIMPLE, RouteReason.FALLBACK)
    assert error.code in caplog.text
    assert "secret path" not in caplog.text


async def test_a_mistake_in_our_own_code_is_not_hidden() -> None:
    router = Router(tool_keywords(), Classifier(error=ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        await router.choose("Hm.", "en-US", SPOKEN)


@pytest.mark.parametrize(
    ("text", "language"),
    [("¿Qué método usas?", "es-ES"), ("Quero saber de todos os planetas", "pt-BR"), ("Explain photodode", "en-US")],
)
async def test_words_that_only_contain_a_keyword_stay_a_chat(text: str, language: str) -> None:
    assert (await Router(tool_keywords(), Classifier(None)).choose(text, language, SPOKEN))[0] is Route.SIMPLE


@pytest.mark.parametrize("text", ["캘린더에 회의 추가해줘", "할일을 보여줘"])
async def test_korean_words_with_their_particles_ask_for_a_tool(text: str) -> None:
    chosen = await Router(tool_keywords(), Classifier(None)).choose(text, "ko", SPOKEN)
    assert chosen == (Route.CONTEXT, RouteReason.KEYWORD)
