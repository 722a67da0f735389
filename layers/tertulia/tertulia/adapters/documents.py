"""JSON documents as stores keep them: text that any database takes and any reader understands."""

import json

from pydantic_core import PydanticSerializationError, to_json

from tertulia.domain.prompts import Json
from tertulia.domain.turns import Turn
from tertulia.wire import turn_from_json, turn_to_json


def to_document(value: Json) -> str:
    """Write JSON text; NaN and infinities become null, halves of surrogate pairs a question mark."""
    try:
        return to_json(value, inf_nan_mode="null").decode()
    except PydanticSerializationError:
        # A tool or a model may write half of a surrogate pair, which no database takes as text.
        return to_json(json.loads(storable(json.dumps(value, ensure_ascii=False))), inf_nan_mode="null").decode()


def from_document(document: str) -> Json:
    """Read JSON text."""
    return json.loads(document)


def storable(text: str) -> str:
    """Return a text that can be encoded, with a question mark for each half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode()


def turn_document(turn: Turn) -> str:
    """Write a turn."""
    return to_document(turn_to_json(turn))


def turn_of(document: str) -> Turn:
    """Read a turn."""
    return turn_from_json(from_document(document))
