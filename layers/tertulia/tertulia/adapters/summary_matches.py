"""The nearest of a user's summaries, the same in every store that searches exactly."""

from collections.abc import Sequence
from dataclasses import replace
from heapq import nlargest

from tertulia.adapters.vectors import likenesses
from tertulia.domain.summaries import Match, Vector


def best_matches(asked: Vector, candidates: Sequence[Match], vectors: Sequence[bytes], limit: int) -> list[Match]:
    """Return the candidates whose vectors are most like the one asked for, the nearest first, with their scores."""
    scored = zip(likenesses(asked.values, vectors), candidates, strict=True)
    nearest = nlargest(max(limit, 0), scored, key=lambda each: each[0])
    return [replace(candidate, score=score) for score, candidate in nearest]
