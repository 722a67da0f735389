"""The fixed sentences the assistant says by itself, in every language it knows."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from tertulia.domain.languages import ENGLISH, closest_language

_PLACE = re.compile(r"\{(\w+)\}")


def phrase(key: str, language: str, **values: str) -> str:
    """Return a sentence with its places filled; English where the language lacks it, KeyError for an unknown key."""
    text = phrases(closest_language(language)).get(key) or phrases(ENGLISH)[key]
    # One pass, so that braces inside a value stay what they are.
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)


@cache
def phrases(language: str) -> Mapping[str, str]:
    """Return every sentence of one of `LANGUAGES`."""
    file = resources.files("tertulia.domain") / "phrases" / f"{language}.json"
    return MappingProxyType(json.loads(file.read_text(encoding="utf-8")))
