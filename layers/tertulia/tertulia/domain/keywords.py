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
        english = by_language[ENGLISH]
        self._patterns = {language: _patterns(own, english) for language, own in by_language.items()}

    def find(self, text: str, language: str) -> str | None:
        """Return the first keyword in the text, as it is compared, or None."""
        words, lookalikes = self._patterns.get(closest_language(language), self._patterns[ENGLISH])
        found = words.search(lookalikes.sub(" ", comparable(text)))
        return found.group() if found else None


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


def _patterns(own: LanguageWords, english: LanguageWords) -> tuple[re.Pattern[str], re.Pattern[str]]:
    borrowed = [word for word in english.words if word not in own.not_english]
    return _pattern([*own.words, *borrowed]), _pattern([*own.lookalikes, *english.lookalikes])


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted({comparable(word) for word in words}, key=len, reverse=True)
    return re.compile("|".join(map(_word_pattern, longest_first)) or _NEVER)


def _word_pattern(word: str) -> str:
    """Match a keyword between word edges; edges of unspaced scripts are everywhere, and their spaces optional."""
    gap = " ?" if _IS_UNSPACED.search(word) else "[ -]"
    body = gap.join(map(re.escape, word.split(" ")))
    before = "" if _IS_UNSPACED.match(word[0]) else rf"(?<!{_SPACED_LETTER})(?<!-)"
    after = "" if _IS_UNSPACED.match(word[-1]) else rf"(?!{_SPACED_LETTER})"
    return before + body + after
