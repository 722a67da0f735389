"""How well words match, for stores without a full-text search of their own: bm25 over what one user has."""

from collections import Counter
from collections.abc import Sequence
from math import log

from tertulia.adapters.words import words_asked, words_to_store

_SATURATION = 1.2
_LENGTH_COUNTS = 0.75


def keyword_scores(asked: str, texts: Sequence[str]) -> list[float]:
    """Return for each text how well it matches, 1 for the best; 0 without a word in common."""
    wanted = words_asked(asked)
    stored = [words_to_store(text).split() for text in texts]
    usual_length = sum(map(len, stored)) / max(len(stored), 1) or 1.0
    counts = [Counter(words) for words in stored]
    rarity = {word: _rarity(sum(word in each for each in counts), len(counts)) for word in wanted}
    scores = [_score(each, len(words) / usual_length, rarity) for each, words in zip(counts, stored, strict=True)]
    best = max(scores, default=0.0)
    return [score / best if best else 0.0 for score in scores]


def _rarity(holders: int, texts: int) -> float:
    return log(1 + (texts - holders + 0.5) / (holders + 0.5))


def _score(counts: Counter[str], length: float, rarity: dict[str, float]) -> float:
    dampening = _SATURATION * (1 - _LENGTH_COUNTS + _LENGTH_COUNTS * length)
    return sum(
        weight * counts[word] * (_SATURATION + 1) / (counts[word] + dampening) for word, weight in rarity.items()
    )
