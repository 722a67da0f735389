"""What users themselves do with their memories: write, correct, and set one by its name."""

import secrets
from dataclasses import dataclass, replace

from tertulia.domain.languages import ENGLISH
from tertulia.domain.memories import (
    PASSES_AFTER,
    USUAL_IMPORTANCE,
    Memory,
    MemoryKind,
    MemorySource,
    memory_number,
)
from tertulia.domain.redaction import redacted
from tertulia.ports import Clock
from tertulia.ports.memories import MemoryStore


@dataclass(frozen=True, kw_only=True)
class MemoryFields:
    """What a user may say about a memory; None leaves it as it is."""

    content: str | None = None
    kind: MemoryKind | None = None
    category: str | None = None
    importance: float | None = None


@dataclass(frozen=True, kw_only=True)
class KeepMemories:
    """Keeps what a user writes about themselves, as they write it."""

    memories: MemoryStore
    clock: Clock

    async def add(self, user: str, fields: MemoryFields, *, key: str = "", device_id: str | None = None) -> Memory:
        """Keep a new memory; with a key it takes the place of the one before, which is listed as ended."""
        now = self.clock.now()
        new = Memory(
            id=memory_number(now, secrets.token_hex()),
            user=user,
            content="",
            created_at=now,
            category="preference" if key else "fact",
            importance=USUAL_IMPORTANCE,
            key=key,
            source=MemorySource.USER,
            device_id=device_id,
            valid_from=now,
        )
        return await self.memories.remember(self._with(new, fields))

    async def correct(self, user: str, memory_id: str, fields: MemoryFields) -> Memory:
        """Change what is named; raises NotFound. New words count as told now."""
        known = await self.memories.get(user, memory_id)
        changed = self._with(known, fields)
        if changed.content != known.content:
            changed = replace(changed, source=MemorySource.USER, created_at=self.clock.now())
        return changed if changed == known else await self.memories.correct(changed)

    def _with(self, memory: Memory, fields: MemoryFields) -> Memory:
        kind = fields.kind or memory.kind
        expires_at = memory.expires_at
        if kind is MemoryKind.LONG_TERM:
            expires_at = None
        elif memory.kind is not kind:
            expires_at = self.clock.now() + PASSES_AFTER
        return replace(
            memory,
            content=memory.content if fields.content is None else redacted(" ".join(fields.content.split()), ENGLISH),
            kind=kind,
            category=fields.category or memory.category,
            importance=memory.importance if fields.importance is None else fields.importance,
            expires_at=expires_at,
        )
