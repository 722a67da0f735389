"""What a conversation was about: its title, overview and action items, and how it is found again."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from tertulia.domain.errors import NotFound

MOST_TITLE_WORDS = 8
MOST_TITLE_CHARACTERS = 80
MOST_TITLE_SYMBOLS = 24
"""For scripts that put no space between words."""
MOST_OVERVIEW_CHARACTERS = 1_200
MOST_ITEMS = 20
MOST_ITEM_CHARACTERS = 300
_SUBSTANCE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2}|[^\W\d_]{4,}")
_DRESSING = " \t\"'“”„«»「」『』*_#`."


@dataclass(frozen=True, kw_only=True)
class ActionItem:
    """Something that somebody said they would do."""

    id: str
    text: str
    due: str | None = None
    done: bool = False

    @classmethod
    def of(cls, text: str, due: str | None = None) -> Self:
        """Make an item whose id is the same for the same words, however often they are summarized."""
        words = " ".join(text.split())[:MOST_ITEM_CHARACTERS]
        return cls(id=hashlib.sha256(words.casefold().encode("utf-8", "replace")).hexdigest()[:16], text=words, due=due)


@dataclass(frozen=True, kw_only=True)
class Digest:
    """A title, an overview and action items, as they are written."""

    title: str
    overview: str
    action_items: tuple[ActionItem, ...] = ()

    def keeping_what_is_done(self, before: Sequence[ActionItem]) -> "Digest":
        """Return it with the items that the user has ticked off still there and ticked."""
        done = {item.id: item for item in before if item.done}
        items = {item.id: replace(item, done=item.id in done) for item in self.action_items}
        left = tuple(item for item in done.values() if item.id not in items)
        return replace(self, action_items=(*items.values(), *left)[:MOST_ITEMS])


@dataclass(frozen=True, kw_only=True)
class Revision:
    """What a person changes about a summary: None and absent leave things as they are."""

    title: str | None = None
    done: Mapping[str, bool] = field(default_factory=dict)
    """By the ids of action items."""

    def of_items(self, items: Sequence[ActionItem]) -> tuple[ActionItem, ...]:
        """Return the items as they are then; raises NotFound for one that is not there."""
        if self.done.keys() - {item.id for item in items}:
            raise NotFound
        return tuple(replace(item, done=self.done.get(item.id, item.done)) for item in items)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a conversation was about up to one of its turns."""

    digest: Digest
    last_number: int
    """The number of the last message that went into it."""
    made_at: datetime


@dataclass(frozen=True)
class Vector:
    """A meaning, and the model that knows it: vectors of different models do not mix."""

    values: tuple[float, ...]
    model: str


@dataclass(frozen=True, kw_only=True)
class SummaryEntry:
    """A summary as the index keeps it."""

    user: str
    conversation_id: str
    title: str
    overview: str
    created_at: datetime
    vector: Vector


@dataclass(frozen=True, kw_only=True)
class Match:
    """A conversation that a search has found."""

    user: str
    conversation_id: str
    title: str
    overview: str
    created_at: datetime
    score: float


def is_borne_out(item: ActionItem, said: str) -> bool:
    """Whether an item is no question and has a word of substance in common with what the user said."""
    if item.text.endswith(("?", "？", "؟")):
        return False
    parts, words = _SUBSTANCE.findall(item.text.casefold()), said.casefold()
    return not parts or any(part in words for part in parts)


def short_title(text: str) -> str:
    """Return a title of at most eight words, without the dressing that models put around it."""
    line = next((line for line in text.splitlines() if line.strip()), "").strip(_DRESSING)
    words = line.split()[:MOST_TITLE_WORDS]
    title = " ".join(words)
    most = MOST_TITLE_CHARACTERS if title.isascii() or len(words) > 1 else MOST_TITLE_SYMBOLS
    return title[:most].strip(_DRESSING)


def short_overview(text: str) -> str:
    """Return an overview of a paragraph, cut at a whole word where it is longer."""
    words = " ".join(text.split())
    if len(words) <= MOST_OVERVIEW_CHARACTERS:
        return words
    return words[:MOST_OVERVIEW_CHARACTERS].rsplit(" ", 1)[0] + "…"


def text_to_index(title: str, overview: str) -> str:
    """Return the text whose meaning is indexed."""
    return f"{title}\n\n{overview}"
