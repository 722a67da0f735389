"""Finds past conversations by what they were about: by meaning and by words, and nothing rather than something else."""

import asyncio
import logging
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tertulia.domain.errors import ServiceFailed, Unauthorized
from tertulia.domain.summaries import Match, Vector
from tertulia.ports import Embedder
from tertulia.ports.follow_up import SummaryIndex

CANDIDATES = 20
"""How many each way of searching brings."""
MOST_QUERY_CHARACTERS = 1_000
"""What the embedder reads; a longer question finds nothing better."""

LIKE = 0.33
"""Summaries whose meaning is so near fit by that alone."""
LIKE_WITH_WORDS = 0.2
SOME_WORDS = 0.15
"""Both together: neither would be enough."""
MOST_OF_THE_WORDS = 0.5
"""What shares so much of what the words tell fits, whatever the vectors say."""
ENOUGH_UNREAD_WORDS = 0.18
"""Where the embedder cannot read the script, words are all there is."""

_WORDS_COUNT = 0.7
"""Shared words, all of them, count like so near a meaning."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Search:
    """Searches what the user's past conversations were about."""

    embedder: Embedder
    summaries: SummaryIndex

    async def __call__(self, user: str, query: str, limit: int = 5) -> list[Match]:
        """Return the conversations that fit, the best first, with scores from 0 to 1; a text without words finds none."""
        if not user:
            raise Unauthorized
        query = query[:MOST_QUERY_CHARACTERS].encode("utf-8", "replace").decode()
        if limit <= 0 or not any(each.isalnum() for each in query):
            return []
        most = max(CANDIDATES, limit)
        near, sharing = await asyncio.gather(
            self._near(user, query, most), self.summaries.with_words(user, query, most)
        )
        # A store that forgot its filter once must not show anybody another person's talks.
        near, sharing = ([match for match in found if match.user == user] for found in (near, sharing))
        return _fused(near, sharing, MOST_OF_THE_WORDS if is_read(query) else ENOUGH_UNREAD_WORDS)[:limit]

    async def _near(self, user: str, query: str, most: int) -> list[Match]:
        """Return what is near in meaning; nothing for a script that the embedder sees as unknown signs."""
        if not is_read(query):
            return []
        [values] = await self.embedder.embed([query])
        try:
            return await self.summaries.nearest(user, Vector(tuple(values), self.embedder.name), most)
        except ServiceFailed as failure:
            logger.warning("searched by words alone: %s", failure.message)
            return []


def is_read(query: str) -> bool:
    """Whether the embedder, which has learned little but Latin script, can tell what a text means."""
    letters = [each for each in query if each.isalpha()]
    latin = sum(unicodedata.name(each, "").startswith("LATIN") for each in letters)
    return not letters or 2 * latin > len(letters)


def _fused(near: Iterable[Match], sharing: Iterable[Match], least_share: float) -> list[Match]:
    likenesses = {match.conversation_id: match for match in near}
    shares = {match.conversation_id: match for match in sharing}
    fitting = []
    for name, match in (likenesses | shares).items():
        likeness = likenesses[name].score if name in likenesses else 0.0
        share = shares[name].score if name in shares else 0.0
        if share >= least_share or likeness >= LIKE or (likeness >= LIKE_WITH_WORDS and share >= SOME_WORDS):
            fitting.append(replace(match, score=_strength(likeness, share)))
    return sorted(fitting, key=lambda match: (match.score, match.created_at), reverse=True)


def _strength(likeness: float, share: float) -> float:
    """Return how strongly both together speak for a summary: more than either alone, and never above 1."""
    return 1 - (1 - min(max(likeness, 0.0), 1.0)) * (1 - _WORDS_COUNT * share)
