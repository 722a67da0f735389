"""How much a word tells about the texts that hold it."""

from math import log

MOST_WORDS = 24
"""Of a question: more find nothing better."""
MOST_HOLDERS = 1_000
"""A word that as many texts hold tells little about any, and would take longer than the rest together."""

FEW_HOLDERS = 3
"""In a small collection a third of it would be nobody."""
SHARE_OF_USUAL_WORDS = 0.3


def rarity(holders: int, texts: int) -> float:
    """Return how much it tells that a text holds a word: nearly nothing when all do, most when few do."""
    return log(1 + (max(texts - holders, 0) + 0.5) / (holders + 0.5))


def shares(holders: dict[str, int], texts: int) -> dict[str, float]:
    """Return which share of a question each of its words is, at most 1 together, for the words that a search looks up.

    Words that nobody holds count too: a text with one word of five says little about the question. Where every word is
    one that many hold, all of them together are little.
    """
    most = min(MOST_HOLDERS, max(texts // 3, FEW_HOLDERS) + 1)
    weights = {word: rarity(count, texts) for word, count in holders.items() if count < most}
    whole = sum(weights.values())
    if not weights:
        weights = {word: 1.0 for word, count in holders.items() if count}
        whole = len(weights) / SHARE_OF_USUAL_WORDS
    return {word: weight / whole for word, weight in weights.items() if holders[word]}
