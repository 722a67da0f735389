"""Scenarios: what a model is told besides for a kind of conversation, as data in `scenarios/`, one file for each.

A scenario speaks English at least; in a language that it lacks, it speaks English. It may allow some tools alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from tertulia.domain.errors import InvalidValue
from tertulia.domain.languages import ENGLISH, LANGUAGES, closest_language
from tertulia.domain.prompts import Json


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario in one language."""

    name: str
    description: str
    prompt: str
    """What the system text says besides; may be empty."""
    tools: frozenset[str] | None = None
    """The tools that it allows; None allows all."""


_TEXTS = frozenset({"name", "description", "prompt"})
_TOOLS = "tools"


def scenarios(language: str) -> dict[str, Scenario]:
    """Return every scenario by its id, in a language."""
    wished = closest_language(language)
    return {name: texts.get(wished, texts[ENGLISH]) for name, texts in _all_scenarios().items()}


def checked_scenario(name: str | None) -> None:
    """Refuse a scenario that does not exist."""
    if name is not None and name not in _all_scenarios():
        raise InvalidValue(f"There is no such scenario. Known are: {', '.join(_all_scenarios())}.")


def allows(scenario: str | None, tool: str) -> bool:
    """Whether a tool may be used in a scenario, or in a turn without one."""
    texts = _all_scenarios().get(scenario or "")
    allowed = texts[ENGLISH].tools if texts else None
    return allowed is None or tool in allowed


def scenario_from(file: str, texts: Json) -> Mapping[str, Scenario]:
    """Read the content of a scenario's file, or say with a ValueError what is wrong with it."""
    if not isinstance(texts, dict) or ENGLISH not in texts:
        raise ValueError(f"{file}: is no object with {ENGLISH} in it")
    tools = _tools_in(file, texts.get(_TOOLS))
    texts = {language: text for language, text in texts.items() if language != _TOOLS}
    for language, text in texts.items():
        if language not in LANGUAGES:
            raise ValueError(f"{file}: {language} is none of the languages")
        if not isinstance(text, dict) or text.keys() != _TEXTS:
            raise ValueError(f"{file}: {language} needs name, description and prompt, and nothing else")
        if not all(isinstance(value, str) for value in text.values()) or not (text["name"] and text["description"]):
            raise ValueError(f"{file}: {language} needs texts, and a name and a description that say something")
    return MappingProxyType({language: Scenario(**text, tools=tools) for language, text in texts.items()})


def _tools_in(file: str, names: Json) -> frozenset[str] | None:
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"{file}: {_TOOLS} needs to be a list of names, or to be left out for all of them")
    return frozenset(names)


@cache
def _all_scenarios() -> Mapping[str, Mapping[str, Scenario]]:
    folder = resources.files("tertulia") / "scenarios"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return MappingProxyType(
        {
            file.name.removesuffix(".json"): scenario_from(file.name, json.loads(file.read_text(encoding="utf-8")))
            for file in files
        }
    )
