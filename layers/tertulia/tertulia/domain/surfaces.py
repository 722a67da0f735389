"""What differs between the ways in: one frozen value carries it, so no code asks for a surface's name."""

from dataclasses import dataclass
from enum import StrEnum


class Route(StrEnum):
    """Which node of the graph answers."""

    SIMPLE = "simple"
    CONTEXT = "context"
    PERSONA = "persona"


class RouteReason(StrEnum):
    """What decided the route."""

    KEYWORD = "keyword"
    CLASSIFIER = "classifier"
    FALLBACK = "fallback"


class Style(StrEnum):
    """How an answer is written."""

    SPOKEN = "spoken"
    SCREEN = "screen"


@dataclass(frozen=True, kw_only=True)
class Surface:
    """The limits and habits of one way in, as `docs/constants.md` lists them."""

    name: str
    style: Style
    always: Route | None = None
    """The route every turn takes, where the surface does not choose one."""
    max_characters: int = 10_000
    history_messages: int = 20
    model_calls: int = 10
    """How often the agent may ask its model in one turn."""
    memories: int = 5
    fills_memories: bool = False
    """Whether the most important memories take the places that fitting ones leave."""
    counted_as: str = "turns"
    """Which rate its turns count towards."""


SPOKEN = Surface(name="spoken", style=Style.SPOKEN)
SCREEN = Surface(
    name="screen",
    style=Style.SCREEN,
    always=Route.CONTEXT,
    max_characters=32_768,
    model_calls=3,
    memories=8,
    fills_memories=True,
    counted_as="generations",
)
SIDEBAR = Surface(name="sidebar", style=Style.SCREEN, history_messages=10, model_calls=3)
