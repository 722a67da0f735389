"""A tool called by its user, without a model: `@tools:name|['a', 'b']`, as the whole of their own message.

What stands in the brackets is read as literals, never run. Input methods write the signs in full width and phones turn
quotation marks: both are read as what was meant.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tertulia.domain.errors import InvalidValue
from tertulia.domain.prompts import Json

MOST_CHARACTERS = 4_000
DEEPEST = 20
_BEGIN = re.compile(r"\s*[@＠]\s?tools?\s?[:：]\s?", re.IGNORECASE)
_CALL = re.compile(r"(?P<name>[A-Za-z0-9_.-]{1,64})\s*(?:[|｜]\s*(?P<literal>.+?)\s*)?", re.DOTALL)
_NARROW = str.maketrans("［］｛｝（），：＇＂", "[]{}(),:'\"")
_CLOSING: Mapping[str, str] = {"'": "'", '"': '"', "＇": "＇", "＂": "＂", "‘": "’", "“": "”", "’": "’", "”": "”"}


class NotACall(InvalidValue):
    """It begins like a direct call and is none."""

    default_message = "Write @tools:name|['first', 'second'], with each text in quotation marks."


@dataclass(frozen=True, kw_only=True)
class DirectCall:
    """The tool that a message names, and its arguments in their order or by their names."""

    name: str
    arguments: Sequence[Json] | Mapping[str, Json] = ()

    def named(self, parameters: Mapping[str, Json]) -> dict[str, Json]:
        """Return the arguments by the names that the tool's schema gives them; raises NotACall."""
        if isinstance(self.arguments, Mapping):
            return dict(self.arguments)
        names = list(parameters.get("properties", {}))
        if len(self.arguments) > len(names):
            raise NotACall
        return dict(zip(names, self.arguments, strict=False))


def begins_a_call(text: str) -> bool:
    """Whether a message is meant as a direct call."""
    return bool(_BEGIN.match(text))


def direct_call_in(text: str) -> DirectCall:
    """Read a message that begins a call; raises NotACall."""
    begin = _BEGIN.match(text)
    found = _CALL.fullmatch(text.strip(), begin.end() - _leading(text)) if begin else None
    if found is None or len(text) > MOST_CHARACTERS:
        raise NotACall
    literal = found["literal"]
    return DirectCall(name=found["name"], arguments=_arguments(literal) if literal else ())


def _leading(text: str) -> int:
    return len(text) - len(text.lstrip())


def _arguments(literal: str) -> Sequence[Json] | Mapping[str, Json]:
    value = _value(_straight(literal))
    if isinstance(value, tuple):
        value = list(value)
    if not isinstance(value, list | dict) or not _is_json(value, DEEPEST):
        raise NotACall
    return value


def _value(literal: str) -> Json:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(literal)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    raise NotACall


def _is_json(value: Json, depth: int) -> bool:
    """Whether a literal is one that JSON knows too: no bytes, sets or complex numbers."""
    if depth == 0:
        return False
    match value:
        case list():
            return all(_is_json(item, depth - 1) for item in value)
        case dict():
            return all(isinstance(name, str) and _is_json(item, depth - 1) for name, item in value.items())
        case float():
            return value == value and abs(value) != float("inf")  # noqa: PLR0124  # NaN differs from itself
        case _:
            return value is None or isinstance(value, str | int | bool)


def _straight(literal: str) -> str:
    """Write signs outside of quotations in their narrow form, and quotation marks straight; their content stays."""
    written: list[str] = []
    closing, escaped = "", False
    for sign in literal:
        if not closing:
            closing = _CLOSING.get(sign, "")
            written.append('"' if closing and sign not in "'\"" else sign.translate(_NARROW))
        elif escaped:
            escaped = False
            written.append(sign)
        elif sign == closing:
            written.append(sign if closing in "'\"" else '"')
            closing = ""
        else:
            escaped = sign == "\\"
            written.append('\\"' if sign == '"' and closing not in "'\"" else sign)
    return "".join(written)
