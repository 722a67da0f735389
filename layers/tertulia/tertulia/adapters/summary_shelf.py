"""One user's summaries in the memory of this process, for stores that have no search of their own."""

from collections import defaultdict
from dataclasses import replace
from heapq import nlargest
from typing import TYPE_CHECKING

from tertulia.adapters.summary_matches import best_matches
from tertulia.adapters.words import words_asked, words_to_store
from tertulia.domain.rarity import MOST_WORDS, shares
from tertulia.domain.summaries import Match, Vector, text_to_index

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SummaryShelf:
    """Summaries by conversation, their vectors beside them and their words indexed."""

    def __init__(self) -> None:
        self._matches: dict[str, Match] = {}
        self._vectors: dict[str, dict[str, bytes]] = defaultdict(dict)
        self._words: dict[str, frozenset[str]] = {}
        self._holders: dict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._matches)

    def put(self, match: Match, model: str, vector: bytes) -> None:
        """Keep a summary, in place of an earlier one of its conversation."""
        name = match.conversation_id
        self.remove(name)
        self._matches[name] = match
        self._vectors[model][name] = vector
        self._words[name] = frozenset(words_to_store(text_to_index(match.title, match.overview)).split())
        for word in self._words[name]:
            self._holders[word].add(name)

    def remove(self, conversation_id: str) -> None:
        """Forget a summary; one that is not there is fine."""
        if self._matches.pop(conversation_id, None) is None:
            return
        for vectors in self._vectors.values():
            vectors.pop(conversation_id, None)
        for word in self._words.pop(conversation_id):
            self._holders[word].discard(conversation_id)
            if not self._holders[word]:
                del self._holders[word]

    def nearest(self, asked: Vector, limit: int) -> list[Match]:
        """Return the summaries nearest in meaning, the nearest first."""
        vectors = self._vectors.get(asked.model, {})
        return best_matches(asked, [self._matches[name] for name in vectors], list(vectors.values()), limit)

    def named(self, conversation_ids: "Sequence[str]") -> list[Match]:
        """Return the summaries of these conversations, those that there are."""
        return [self._matches[name] for name in conversation_ids if name in self._matches]

    def with_words(self, text: str, limit: int) -> list[Match]:
        """Return the summaries that share telling words with a text, those that share most first."""
        held: Mapping[str, set[str]] = {word: self._holders.get(word, set()) for word in words_asked(text)[:MOST_WORDS]}
        found: defaultdict[str, float] = defaultdict(float)
        for word, share in shares({word: len(names) for word, names in held.items()}, len(self)).items():
            for name in held[word]:
                found[name] += share
        best = nlargest(max(limit, 0), found, key=lambda name: (found[name], self._matches[name].created_at))
        return [replace(self._matches[name], score=min(found[name], 1.0)) for name in best]
