"""To-dos, and which of them somebody means."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

MOST_TITLE_CHARACTERS = 500
MOST_NOTE_CHARACTERS = 10_000
DELETED_KEPT = timedelta(days=1)
"""For how long a deleted to-do can be brought back."""

_BREAKS = re.compile(r"[\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, kw_only=True)
class Todo:
    """Something that somebody means to do."""

    id: str
    title: str
    note: str = ""
    is_done: bool = False
    state: str = ""
    """The list's own word for how far it is, where it has one."""


def meant(todos: Sequence[Todo], words: str) -> list[Todo]:
    """Return the to-dos that the words may mean: by their id, else by the same title, else by a title that holds them.

    One that is left is meant; of several, nobody but the user knows which.
    """
    wanted = _plain(words)
    if not wanted:
        return []
    ids = [todo for todo in todos if todo.id == words.strip()]
    same = ids or [todo for todo in todos if _plain(todo.title) == wanted]
    return same or [todo for todo in todos if _holds(_plain(todo.title), wanted)]


def _holds(title: str, wanted: str) -> bool:
    """Whether all the words stand in the title, in any order: whole ones where the script puts space between words."""
    words = set(title.split())
    return all(word in words or (_UNSPACED.search(word) and word in title) for word in wanted.split())


def _plain(text: str) -> str:
    """Return the words alone: case, width, accents' form and punctuation make no difference."""
    return " ".join(_BREAKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())
