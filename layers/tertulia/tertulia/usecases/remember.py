"""Learns what a turn tells about its user: from the user's own words alone, and only what those words bear out."""

from dataclasses import dataclass, replace

from tertulia.domain.changed_facts import is_about, is_ending, key_of
from tertulia.domain.errors import Unavailable
from tertulia.domain.evidence import quoted
from tertulia.domain.memories import (
    PASSES_AFTER,
    Fact,
    Memory,
    MemoryKind,
    category_of,
    importance_of,
    memory_number,
)
from tertulia.domain.turns import Turn
from tertulia.ports import ConversationStore
from tertulia.ports.follow_up import FactFinder
from tertulia.ports.limits import RateCounter
from tertulia.ports.memories import MemoryStore

MOST_A_TURN = 8
MOST_AT_ONCE = 2
"""Turns of one user that are learned from at the same time, over all processes."""
LONGEST_SECONDS = 300.0
"""By then a learning that ended without a word has made room again."""
LOOKED_THROUGH = 20
"""Memories that a sentence may end."""


@dataclass(frozen=True, kw_only=True)
class Remember:
    """Keeps the lasting facts of a turn as memories."""

    conversations: ConversationStore
    memories: MemoryStore
    finder: FactFinder
    counter: RateCounter

    async def __call__(self, user: str, turn_id: str) -> int:
        """Return how many facts of the turn are remembered; the same turn again replaces its own."""
        found = await self.conversations.find_turn(user, turn_id)
        if found is None or found[1].error or not found[1].text.strip():
            return 0
        _, turn = found
        wait = await self.counter.hit(user, "learning", MOST_AT_ONCE, LONGEST_SECONDS, turn_id)
        if wait is not None:
            raise Unavailable("Other turns of this user are being learned from.", retry_after=wait)
        try:
            return await self._learn(user, turn)
        finally:
            await self.counter.forget(user, "learning", turn_id)

    async def _learn(self, user: str, turn: Turn) -> int:
        memories = _memories(user, turn, await self.finder.facts(turn))
        for memory in memories:
            await self._end_what_is_over(memory)
            await self.memories.remember(memory)
        await self.memories.use(user, turn.memories_used, turn.created_at)
        return len(memories)

    async def _end_what_is_over(self, told: Memory) -> None:
        if not is_ending(told.content):
            return
        for memory in await self.memories.recall(told.user, told.content, LOOKED_THROUGH):
            is_older = memory.created_at < told.created_at
            if is_older and not is_ending(memory.content) and is_about(told.content, memory.content):
                await self.memories.correct(replace(memory, valid_to=told.valid_from))


def _memories(user: str, turn: Turn, facts: list[Fact]) -> list[Memory]:
    by_words = {words: fact for fact in facts if (words := quoted(fact.evidence, turn.text))}
    return [
        _memory(user, turn, words, fact)
        for words, fact in list(by_words.items())[:MOST_A_TURN]
        if not any(words in longer for longer in by_words if longer != words)
    ]


def _memory(user: str, turn: Turn, words: str, fact: Fact) -> Memory:
    return Memory(
        # The turn and its words: a second run writes over the first one's instead of adding to them.
        id=memory_number(turn.created_at, turn.id, words.casefold()),
        user=user,
        content=words,
        created_at=turn.created_at,
        kind=MemoryKind.SHORT_TERM if fact.is_passing else MemoryKind.LONG_TERM,
        category=category_of(fact.topic),
        importance=importance_of(fact.topic),
        expires_at=turn.created_at + PASSES_AFTER if fact.is_passing else None,
        key="" if fact.is_passing else key_of(words),
        source_id=turn.id,
        device_id=turn.device_id,
        valid_from=turn.created_at,
    )
