"""Learns what a turn tells about its user: from the user's own words alone, and only what those words bear out."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from tertulia.domain.evidence import quoted
from tertulia.domain.memories import Fact, Memory, MemoryKind, category_of, importance_of
from tertulia.domain.turns import Turn
from tertulia.ports import ConversationStore
from tertulia.ports.follow_up import FactFinder
from tertulia.ports.memories import MemoryStore

PASSES_AFTER = timedelta(hours=48)
MOST_A_TURN = 8


@dataclass(frozen=True, kw_only=True)
class Remember:
    """Keeps the lasting facts of a turn as memories."""

    conversations: ConversationStore
    memories: MemoryStore
    finder: FactFinder

    async def __call__(self, user: str, turn_id: str) -> int:
        """Return how many facts of the turn are remembered; the same turn again replaces its own."""
        found = await self.conversations.find_turn(user, turn_id)
        if found is None or found[1].error or not found[1].text.strip():
            return 0
        _, turn = found
        memories = _memories(user, turn, await self.finder.facts(turn))
        for memory in memories:
            await self.memories.remember(memory)
        return len(memories)


def _memories(user: str, turn: Turn, facts: list[Fact]) -> list[Memory]:
    by_words = {words: fact for fact in facts if (words := quoted(fact.evidence, turn.text))}
    return [
        _memory(user, turn, words, fact)
        for words, fact in list(by_words.items())[:MOST_A_TURN]
        if not any(words in longer for longer in by_words if longer != words)
    ]


def _memory(user: str, turn: Turn, words: str, fact: Fact) -> Memory:
    digest = hashlib.sha256(words.casefold().encode("utf-8", "replace")).hexdigest()
    return Memory(
        # The turn and its words: a second run writes over the first one's instead of adding to them.
        id=f"{turn.id}-{digest[:8]}",
        user=user,
        content=words,
        created_at=turn.created_at,
        kind=MemoryKind.SHORT_TERM if fact.is_passing else MemoryKind.LONG_TERM,
        category=category_of(fact.topic),
        importance=importance_of(fact.topic),
        expires_at=turn.created_at + PASSES_AFTER if fact.is_passing else None,
    )
