"""The words of many short texts, kept beside them, so that a question is compared with those texts alone that share one."""

from collections import Counter, defaultdict
from math import log

from tertulia.adapters.words import words_asked, words_to_store

MOST_COMPARED = 2_000
"""The rarest words of a question come first; those that many texts hold tell little about any, and would take longest."""
_SATURATION = 1.2
_LENGTH_COUNTS = 0.75


class KeywordIndex:
    """Texts by their words, scored with bm25."""

    def __init__(self) -> None:
        self._holders: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._words: dict[str, Counter[str]] = {}
        self._lengths: dict[str, int] = {}
        self._length = 0

    def put(self, name: str, text: str) -> None:
        """Keep a text under a name, in place of an earlier one."""
        self.remove(name)
        counts = Counter(words_to_store(text).split())
        self._words[name] = counts
        self._lengths[name] = counts.total()
        self._length += counts.total()
        for word, count in counts.items():
            self._holders[word][name] = count

    def remove(self, name: str) -> None:
        """Forget a text; one that is not there is fine."""
        counts = self._words.pop(name, None)
        if counts is None:
            return
        self._length -= self._lengths.pop(name)
        for word in counts:
            del self._holders[word][name]
            if not self._holders[word]:
                del self._holders[word]

    def scores(self, asked: str) -> dict[str, float]:
        """Return how well the texts match that share a word with the question, 1 for the best."""
        scores: defaultdict[str, float] = defaultdict(float)
        left, usual = MOST_COMPARED, self._length / max(len(self._words), 1)
        for holders in sorted((self._holders.get(word, {}) for word in words_asked(asked)), key=len):
            left -= len(holders)
            if left < 0:
                break
            rarity = log(1 + (len(self._words) - len(holders) + 0.5) / (len(holders) + 0.5))
            for name, count in holders.items():
                dampening = _SATURATION * (1 - _LENGTH_COUNTS + _LENGTH_COUNTS * self._lengths[name] / usual)
                scores[name] += rarity * count * (_SATURATION + 1) / (count + dampening)
        best = max(scores.values(), default=0.0)
        return {name: score / best for name, score in scores.items() if best > 0}
