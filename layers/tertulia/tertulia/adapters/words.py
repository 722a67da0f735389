"""Texts as the words a keyword search compares, in any script."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

_MOST_WORDS_ASKED = 64
"""A question may be pages long; more words than this find nothing better."""

# Scripts without spaces between words, and Korean, whose particles hang on the word: Thai to Khmer, kana, Han, Hangul.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])[^\W_])+)")


def words_to_store(text: str) -> str:
    """Return every word of a text, an unspaced run as its characters and all its pairs."""
    return " ".join(word for word, is_unspaced in _runs(text) for word in _cut(word, is_unspaced))


def words_asked(text: str) -> list[str]:
    """Return the words of a question, each once; of an unspaced run, its pairs alone."""
    words = (
        part
        for word, is_unspaced in _runs(text)
        for part in (_pairs(word) if is_unspaced and len(word) > 1 else (word,))
    )
    return list(dict.fromkeys(words))[:_MOST_WORDS_ASKED]


def words_to_match(text: str) -> str:
    """Return an FTS5 query for any of the words: quoted, so that nothing in a question is read as syntax."""
    return " OR ".join(f'"{word}"' for word in words_asked(text))


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    return ((run.group(), run.lastgroup == "unspaced") for run in _RUN.finditer(_folded(text)))


def _cut(word: str, is_unspaced: bool) -> tuple[str, ...]:
    return (*word, *_pairs(word)) if is_unspaced else (word,)


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(first + second for first, second in pairwise(run))


def _folded(text: str) -> str:
    """Return a text without case, accents and width, as people type it in a hurry."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", plain).casefold()
