"""Chooses the route of a turn: by keyword, else by a classifier, else the simple one."""

import json
import logging
from importlib import resources

from tertulia.domain.errors import TertuliaError
from tertulia.domain.keywords import Keywords, LanguageWords
from tertulia.domain.surfaces import Route, RouteReason, Surface
from tertulia.ports import RouteClassifier

logger = logging.getLogger(__name__)


class Router:
    """Keyword, then classifier, then `simple`: a turn always gets a route."""

    def __init__(self, keywords: Keywords, classifier: RouteClassifier) -> None:
        self._keywords = keywords
        self._classifier = classifier

    async def choose(self, text: str, language: str, surface: Surface) -> tuple[Route, RouteReason]:
        """Return the route and what decided it."""
        if surface.always is not None:
            return surface.always, RouteReason.FALLBACK
        if self._keywords.find(text, language):
            return Route.CONTEXT, RouteReason.KEYWORD
        route = await self._classified(text)
        return (route, RouteReason.CLASSIFIER) if route else (Route.SIMPLE, RouteReason.FALLBACK)

    async def _classified(self, text: str) -> Route | None:
        try:
            return await self._classifier.classify(text)
        except TertuliaError as error:
            logger.warning("the route classifier failed (%s), the turn goes on as a simple one", error.code)
            return None


def tool_keywords() -> Keywords:
    """Read the words that ask for a tool, by language."""
    text = resources.files(__package__).joinpath("keywords.json").read_text("utf-8")
    return Keywords({language: LanguageWords(**words) for language, words in json.loads(text).items()})
