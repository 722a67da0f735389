"""Where text may be cut to be spoken: after sentences, as they are written, and into pieces of a vendor's size."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_CLOSERS = r"""["'”’»)\]*_]*+"""
# Possessive throughout: what has been matched is given back to no shorter cut.
_END = re.compile(
    rf"(?<![.!?…])(?P<mark>[.!?…]++){_CLOSERS}(?P<space>\s++)(?=(?P<next>\S))"
    r"|(?<![。！？｡])[。！？｡]++[」』”’）】]*+\s*+(?=\S)"
    r"|(?<=\S)[ \t]*+\n\s*+(?=\S)"
)
_CLAUSE = re.compile(r"(?:[,;:—–]\s++|[，、；：]\s*+)(?=\S)")

_JOINERS_OF_CLAUSES = (
    "and|but|or|because|which|who|that|when|while|where|so|if|as|than|due|like"
    "|with|without|for|from|to|into|in|on|at|by|of|through|during|after|before|over|under|between|about"
)
_BEFORE_JOINER = re.compile(rf"\s++(?=(?:{_JOINERS_OF_CLAUSES})\s)")

_SHORT = frozenset(
    {
        *("mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "gen", "col", "lt", "sgt", "capt", "rev", "hon", "gov"),
        *(
            "sen",
            "rep",
            "vs",
            "e.g",
            "i.e",
            "cf",
            "approx",
            "ca",
            "dept",
            "est",
            "hr",
            "fr",
            "mme",
            "mlle",
            "sra",
            "dra",
        ),
        *("z.b", "d.h", "u.a", "bzw", "p.ex"),
    }
)
"""Words whose dot does not end a sentence."""

_SHORT_BEFORE_NUMBERS = frozenset(
    {
        *("no", "nr", "nos", "fig", "vol", "art", "p", "pp", "ch", "sec"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    }
)
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.)*[^\W\d_a-z]")
_LIST_NUMBER = re.compile(r"\s*\d{1,3}")
_SPACES = "".join(character for character in map(chr, range(0x3001)) if character.isspace())
_OPEN_ENDS = ".!?…。！？｡,;:—–，、；：" + "\"'”’»)]*_」』）】" + _SPACES
_CONTEXT = 80


@dataclass(frozen=True)
class EarlyCuts:
    """Where an answer may be cut before its sentences end, so that it is heard sooner."""

    lengths: tuple[int, ...] = ()
    """From which length on the first, the second, … piece may end at a comma."""
    before_joiners: bool = False
    """Whether it may also end before an English word that joins two parts of a sentence."""


class SentenceSplitter:
    """Cuts a text into sentences while it is written; the sentences joined are the text.

    The cuts are the same however the text arrives in pieces, because each waits for the character after it.
    """

    def __init__(self, early: EarlyCuts | None = None) -> None:
        early = early or EarlyCuts()
        self._clauses = (_CLAUSE, _BEFORE_JOINER) if early.before_joiners else (_CLAUSE,)
        self._lengths = list(early.lengths)
        self._text = ""
        self._searched = 0

    def feed(self, piece: str) -> list[str]:
        """Take the next piece; return the sentences that are whole now."""
        self._text += piece
        sentences = []
        while (end := self._next_end()) is not None:
            sentences.append(self._text[:end])
            self._text = self._text[end:]
            del self._lengths[:1]
            self._searched = 0
        if self._lengths:
            return sentences
        # A mark at the end may be a cut once its next character is here; before it, all is settled.
        self._searched = max(self._searched, len(self._text.rstrip(_OPEN_ENDS)))
        return sentences

    def finish(self) -> list[str]:
        """Return what is left."""
        rest, self._text = self._text, ""
        return [rest] if rest else []

    def _next_end(self) -> int | None:
        end = next(_sentence_ends(self._text, self._searched), None)
        if not self._lengths:
            return end
        clauses = [match.end() for kind in self._clauses for match in kind.finditer(self._text)]
        long_enough = [place for place in clauses if place >= self._lengths[0]]
        return min([*long_enough, *([] if end is None else [end])], default=None)


def sentences_of(text: str) -> list[str]:
    """Cut a whole text into sentences; joined they are the text."""
    splitter = SentenceSplitter()
    return [*splitter.feed(text), *splitter.finish()]


def pieces(text: str, limit: int) -> list[str]:
    """Cut a text into as few pieces of at most `limit` characters as its sentences allow; joined they are the text."""
    found = []
    while len(text) > limit:
        cut = _best_cut(text, limit)
        found.append(text[:cut])
        text = text[cut:]
    return [*found, text] if text else found


def _best_cut(text: str, limit: int) -> int:
    """Return the last good place up to `limit`: after a sentence, a clause, a word, or a whole character."""
    head = text[: limit + 20]
    within = range(1, limit + 1)
    kinds = (
        list(_sentence_ends(head)),
        [match.end() for match in _CLAUSE.finditer(head)],
        [place for place in within if head[place - 1].isspace() != head[place].isspace()],
        [place for place in within if _is_between_characters(head, place)],
    )
    for places in kinds:
        # Where only the space after a mark lies beyond the limit, it begins the next piece.
        fitting = [min(place, limit) for place in places if 0 < len(head[:place].rstrip()) <= limit]
        if fitting:
            return max(fitting)
    return limit


def _sentence_ends(text: str, start: int = 0) -> Iterator[int]:
    for match in _END.finditer(text, start):
        if match["mark"] is None or _is_end(text, match):
            yield match.end()


def _is_end(text: str, match: re.Match[str]) -> bool:
    if "\n" in match["space"]:
        return _LIST_NUMBER.fullmatch(text, 0, match.start()) is None
    if match["next"].islower():
        return False
    if match["mark"] != ".":
        return True
    before = text[max(0, match.start() - _CONTEXT) : match.start()]
    word = re.split(r"[\s(\[\"“*_]", before)[-1]
    if _LIST_NUMBER.fullmatch(before.rpartition("\n")[2]) or word.casefold() in _SHORT:
        return False
    if word.casefold() in _SHORT_BEFORE_NUMBERS and match["next"].isdigit():
        return False
    return word == "I" or _INITIALS.fullmatch(word) is None


_JOINERS = "\u200d\ufe0e\ufe0f\u20e3"


def _is_between_characters(text: str, place: int) -> bool:
    """Whether a cut at the place parts no character that people see as one."""
    if place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if before == "\u200d" or after in _JOINERS or unicodedata.category(after) in {"Mn", "Me", "Mc"}:
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    return not (_is_flag_letter(before) and _is_flag_letter(after) and _flag_letters_before(text, place) % 2)


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, place: int) -> int:
    start = place
    while start and _is_flag_letter(text[start - 1]):
        start -= 1
    return place - start
