"""Text to words that can be spoken: what only the eye needs is left out."""

import html
import re
import unicodedata
from collections.abc import Sequence

from tertulia.domain.sentences import pieces, sentences_of
from tertulia.domain.spoken_english import spoken_english

_LONGEST_SENTENCE = 1000

_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_RULE = re.compile(r"^[\s|:+=*_-]*$")
_MARKERS = re.compile(r"^(?:\s*(?:>|#{1,6}(?=\s)|[-*+•‣◦](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)))+\s*|^\s*#+\s*$")
_ENDED = re.compile(r"[.!?…:;,。！？：；，、][\"'”’」』)]*$")

_REPLACEMENTS = (
    (re.compile(r"```.*?(?:```|$)|~~~.*?(?:~~~|$)", re.DOTALL), " "),
    (re.compile(r"!?\[\^[^\]]*\]|【[^】]*】|(?<=[\w.,!?)\"])\s?\[\d+\](?![(:])"), ""),
    (re.compile(r"!(?=\[)"), ""),
    (re.compile(r"\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)?"), "]"),
    (re.compile(r"\]\[[^\]]*\]"), "]"),
    (re.compile(r"<((?:https?://|mailto:)[^>\s]+)>"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]*>"), " "),
    (
        re.compile(
            r"(?:https?|ftp)://(?:www\.)?([^\s/?#()\[\]<>\"']+)(?:[/?#](?:[^\s()\[\]<>\"']|\([^\s()]*\))*(?<![.,;:!?]))?"
        ),
        r"\1",
    ),
    (re.compile(r"\bmailto:"), ""),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|-])"), r"\1"),
    (re.compile(r"(?<=\d)\s*\*\s*(?=\d)|(?<=\w) \* (?=\w)"), " × "),
    (re.compile(r"\*+|`+|~~+|(?<!\w)_+|_+(?!\w)"), ""),
    (re.compile(r"_"), " "),
    (re.compile(r"[\[\]{}|]"), " "),
    (re.compile(r"\s*[→⇒➔➜]\s*"), ", "),
)
_SPACES = re.compile(r"\s+")
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.!?;:…。！？，])(?=\s|$)")
_EMPTY_PARENTHESES = re.compile(r"\(\s*\)")

# Not letters, yet they carry meaning that a voice can say.
_SPEAKABLE_SYMBOLS = frozenset("°^`¨№")


class SpeechWriter:
    """Makes an answer speakable sentence by sentence; remembers whether it is inside a block of code."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._in_code = False

    def write(self, sentence: str) -> str:
        """Return the words of the next sentence, empty when it has none to say."""
        if fence := _FENCE.match(sentence):
            opens_or_closes = sentence.count(fence[1]) % 2 == 1
            self._in_code ^= opens_or_closes
            return ""
        return "" if self._in_code else speech_text(sentence, self._language)


def speakable_sentences(text: str, language: str) -> list[str]:
    """Cut a whole text into sentences and make them speakable."""
    writer = SpeechWriter(language)
    # No sentence is so long; without a bound, some texts would take the patterns seconds.
    parts = (part for sentence in sentences_of(text) for part in pieces(sentence, _LONGEST_SENTENCE))
    written = [writer.write(part) for part in parts]
    return [sentence for sentence in written if sentence]


def joined_sentences(sentences: Sequence[str]) -> str:
    """Join what is said one after the other, with a pause where the text has none."""
    paused = (each if _ENDED.search(each.rstrip("*_` ")) else f"{each.rstrip()}," for each in sentences[:-1])
    return " ".join([*paused, *sentences[-1:]])


def speech_text(text: str, language: str) -> str:
    """Return the words of a text without markup, links and emoji; in English, numbers and signs as they are said."""
    words = html.unescape(text)
    for pattern, replacement in _REPLACEMENTS[:1]:
        words = pattern.sub(replacement, words)
    words = joined_sentences([line for line in map(_line, words.splitlines()) if line.strip()])
    for pattern, replacement in _REPLACEMENTS[1:]:
        words = pattern.sub(replacement, words)
    words = "".join(character for character in words if _is_speakable(character))
    if language.lower().startswith("en"):
        words = spoken_english(words)
    words = _EMPTY_PARENTHESES.sub("", words)
    words = _SPACE_BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", words)).strip()
    return words if any(character.isalnum() for character in words) else ""


def _line(line: str) -> str:
    if _RULE.match(line):
        return ""
    is_row = line.strip().startswith("|")
    if is_row:
        line = ", ".join(cell.strip() for cell in line.strip().strip("|").split("|") if cell.strip())
    bare = _MARKERS.sub("", line)
    # What stands on a line of its own is said as a sentence of its own.
    if (is_row or bare != line) and bare.strip() and not _ENDED.search(bare.rstrip("*_` ")):
        return f"{bare.rstrip()}{'。' if _is_wide(bare) else '.'}"
    return bare


def _is_wide(text: str) -> bool:
    return any("\u3040" <= character <= "\u9fff" for character in text)


def _is_speakable(character: str) -> bool:
    if character.isspace() or character in _SPEAKABLE_SYMBOLS:
        return True
    category = unicodedata.category(character)
    if "\ufe00" <= character <= "\ufe0f" or character == "\u20e3":
        return False
    return category not in {"So", "Sk", "Cc", "Cf", "Co", "Cs", "Cn"}
