"""Finds words that need no thought: whole words, each in its own language, in every script."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tertulia.domain.languages import ENGLISH, closest_language

# Scripts that put no spaces between words, and Korean, which glues its particles to them.
_UNSPACED = (
    "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_SPACED_LETTER = rf"[^\W{_UNSPACED}]"
_NEVER = "(?!)"
_SPACES = re.compile(r"[\s_]+")


type Patterns = tuple[re.Pattern[str], re.Pattern[str]]
"""What finds the keywords of a language, and what only looks like them."""


@dataclass(frozen=True)
class LanguageWords:
    """The keywords of one language."""

    words: Sequence[str]
    not_english: Sequence[str] = ()
    """English keywords that mean something else here."""
    lookalikes: Sequence[str] = ()
    """Longer words and phrases that only contain a keyword."""


class Keywords:
    """Keywords by language; a text is read in its own language and in English, whose words all others borrow."""

    def __init__(self, by_language: Mapping[str, LanguageWords]) -> None:
        self._words = by_language
        # Made when a language is first met: ten of them at once would keep the start waiting.
        self._patterns: dict[str, Patterns] = {}

    def find(self, text: str, language: str) -> str | None:
        """Return the first keyword in the text, as it is compared, or None."""
        words, lookalikes = self._patterns_of(closest_language(language))
        found = words.search(lookalikes.sub(" ", comparable(text)))
        return found.group() if found else None

    def _patterns_of(self, language: str) -> Patterns:
        known = language if language in self._words else ENGLISH
        if known not in self._patterns:
            self._patterns[known] = _patterns(self._words[known], self._words[ENGLISH])
        return self._patterns[known]


def comparable(text: str) -> str:
    """Return the text as keywords are compared: one width, one case, one kind of hyphen and space, no invisible signs."""
    # Casefold makes of the Turkish capital İ an i with a dot above, of which no keyword would know.
    dotless = unicodedata.normalize("NFKC", text).replace("İ", "i").replace("ı", "i")
    folded = unicodedata.normalize("NFKC", dotless.casefold())
    plain = "".join(_plain(character) for character in folded)
    return _SPACES.sub(" ", plain)


def _plain(character: str) -> str:
    match unicodedata.category(character):
        case "Cf":
            return ""
        case "Pd":
            return "-"
        case _:
            return character


def _patterns(own: LanguageWords, english: LanguageWords) -> Patterns:
    borrowed = [word for word in english.words if word not in own.not_english]
    return _pattern([*own.words, *borrowed]), _pattern([*own.lookalikes, *english.lookalikes])


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Match any of the words; those with edges of the same kind share them, as letters of all scripts compile slowly."""
    by_edges: dict[tuple[str, str], list[str]] = {}
    for word in sorted({comparable(word) for word in words}, key=len, reverse=True):
        by_edges.setdefault(_edges(word), []).append(_body(word))
    groups = (f"{before}(?:{'|'.join(bodies)}){after}" for (before, after), bodies in by_edges.items())
    return re.compile("|".join(groups) or _NEVER)


def _edges(word: str) -> tuple[str, str]:
    """Return what must stand around a keyword: in unspaced scripts words begin and end anywhere."""
    before = "" if _IS_UNSPACED.match(word[0]) else rf"(?<!{_SPACED_LETTER})(?<!-)"
    after = "" if _IS_UNSPACED.match(word[-1]) else rf"(?!{_SPACED_LETTER})"
    return before, after


def _body(word: str) -> str:
    gap = " ?" if _IS_UNSPACED.search(word) else "[ -]"
    return gap.join(map(re.escape, word.split(" ")))
