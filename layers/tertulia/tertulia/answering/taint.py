"""Whether words of others are before the model, who might give orders in them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from tertulia.answering.toolbox import Toolbox
from tertulia.domain.keywords import comparable
from tertulia.domain.memories import Memory
from tertulia.domain.prompts import Json, texts_in
from tertulia.domain.turns import Attachment, Turn

_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?")


class Taint(IntEnum):
    """How near the words of others are."""

    CLEAN = 0
    EARLIER = 1
    """Earlier turns hold some. What their user asks for in their own words now may still be done."""
    NOW = 2
    """This turn does."""


def taint_of(
    toolbox: Toolbox, history: Iterable[Turn], memories: Sequence[Memory], attachments: Sequence[Attachment]
) -> Taint:
    """Return what a turn begins with."""
    if memories or attachments:
        return Taint.NOW
    is_earlier = any(turn.attachments or any(toolbox.taints(use.name) for use in turn.tools) for turn in history)
    return Taint.EARLIER if is_earlier else Taint.CLEAN


def is_steered(taint: Taint, arguments: Mapping[str, Json], words: str) -> bool:
    """Whether others may have had a hand in a change: all of it must then be the user's own words, or be asked about."""
    if taint is Taint.EARLIER:
        said = comparable(words)
        return not all(_is_their_own(text, said) for text in texts_in(arguments))
    return taint is Taint.NOW


def _is_their_own(text: str, said: str) -> bool:
    plain = comparable(text).strip()
    return plain in said or bool(_TIME.fullmatch(text.strip()))
