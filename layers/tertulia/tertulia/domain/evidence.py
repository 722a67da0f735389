"""Whether a fact is borne out by the user's own words."""

import re
import unicodedata

from tertulia.domain.redaction import REDACTED

FEWEST_LETTERS = 5
FEWEST_SYMBOLS = 3
"""For scripts in which a character is a syllable or a word."""
FEWEST_WORDS = 3
MOST_CHARACTERS = 300
_ASKS = "?？؟"
_SYMBOLS = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(r"(?:[^.!?。！？؟\n]|\.(?!\s|$))+[.!?。！？؟\"'”’»)]*")
_BEFORE_QUESTION = re.compile(r"(.+)[,;，；、]")
_ENDS = " \t\n\"'“”„«»「」.,;:!。、，；：！…-–—*"


def told(text: str) -> str:
    """Return what of a text asks nothing, since only that can tell anything: of a question, what stands before it."""
    return " ".join(part for sentence in _SENTENCE.findall(text) if (part := _told_in(sentence.strip())))


def _told_in(sentence: str) -> str:
    if sentence.rstrip(_ENDS)[-1:] not in tuple(_ASKS):
        return sentence
    before = _BEFORE_QUESTION.match(sentence)
    return before[1] if before and (len(before[1].split()) >= FEWEST_WORDS or _SYMBOLS.search(before[1])) else ""


def quoted(evidence: str, text: str) -> str:
    """Return the words of the text that the evidence quotes; empty where it quotes none, or only a question."""
    words = _folded(evidence).strip(_ENDS + _ASKS).split()
    folded = _folded(text)
    found = re.search(_pattern(words), folded) if words else None
    if found is None:
        return ""
    # Folding keeps the number of characters, so places in the folded text are places in the text.
    quote = " ".join(text[found.start() : found.end()].split()).strip(_ENDS)
    is_asked = folded[found.end() :].lstrip(_ENDS)[:1] in tuple(_ASKS) or any(mark in quote for mark in _ASKS)
    return "" if is_asked or not _says_something(quote) else quote


def _pattern(words: list[str]) -> str:
    """Match whole words, but for scripts that do not part them."""
    before = "" if _SYMBOLS.match(words[0][0]) else r"(?<!\w)"
    after = "" if _SYMBOLS.match(words[-1][-1]) else r"(?!\w)"
    return before + r"\s+".join(map(re.escape, words)) + after


def _says_something(quote: str) -> bool:
    letters = sum(character.isalpha() for character in quote)
    fewest = FEWEST_SYMBOLS if _SYMBOLS.search(quote) else FEWEST_LETTERS
    return fewest <= letters and len(quote) <= MOST_CHARACTERS and REDACTED not in quote and "[EDITADO]" not in quote


def _folded(text: str) -> str:
    """Return a text in one case and with plain quotation marks, each character in its place."""
    return "".join(_plain(character) for character in text)


def _plain(character: str) -> str:
    if character in "‘’ʼ`´":
        return "'"
    folded = unicodedata.normalize("NFKC", character).casefold()
    return folded if len(folded) == 1 else character
