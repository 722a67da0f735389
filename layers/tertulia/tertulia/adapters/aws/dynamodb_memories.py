"""Memories in DynamoDB: all of one user's are read and compared, which is exact and serves some thousands."""

import asyncio
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime

from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.keyword_scores import keyword_scores
from tertulia.adapters.memory_choice import Candidate, age, chosen, likeness_key
from tertulia.adapters.vectors import blob_of, likenesses
from tertulia.domain.errors import NotFound
from tertulia.domain.memories import Memory, MemoryKind
from tertulia.ports import Clock, Embedder

_STALE_AT_ONCE = 16
"""After a change of model, this many old memories are embedded anew with each new one."""


class DynamoMemories:
    """The memory store of the cloud. A memory's key is a digest of its content, so that the same is kept once."""

    def __init__(self, table: DynamoTable, embedder: Embedder, clock: Clock) -> None:
        self._table = table
        self._embedder = embedder
        self._clock = clock

    async def recall(self, user: str, text: str, limit: int) -> list[Memory]:
        """Return the user's memories that fit the text, newest first."""
        if limit <= 0 or not text.strip():
            return []
        comparable = [item for item in await self._live(user) if item["model"] == self._embedder.name]
        if not comparable:
            return []  # nothing that the embedder, which takes a while to load, would be asked for
        [asked] = await self._embedder.embed([text])
        return await asyncio.to_thread(_fitting, asked, text, comparable, limit)

    async def remember(self, memory: Memory) -> None:
        """Keep a memory; content that is known keeps its id and takes over the rest."""
        content = storable(memory.content)
        stale = [item for item in await self._live(memory.user) if item["model"] != self._embedder.name]
        stale = stale[:_STALE_AT_ONCE]
        vector, *again = await self._embedder.embed([content, *(item["content"] for item in stale)])
        for item, anew in zip(stale, again, strict=True):
            await self._table.put({**item, "model": self._embedder.name, "vector": _text_of(anew)})
        key = _memory_key(memory.user, content)
        known = await self._table.get(key)
        kept_id = known["id"] if known else memory.id
        pointer = await self._table.get(_id_key(memory.user, kept_id))
        item = self._item(memory, kept_id, content, vector)
        # The way from the id comes first: after a crash in between it leads nowhere, and the repetition mends that.
        await self._table.put({**_id_key(memory.user, kept_id)._asdict(), "memory": key.sk, **_expiry(memory)})
        await self._table.put(item)
        if pointer and pointer["memory"] != key.sk:
            await self._table.delete(Key(key.pk, pointer["memory"]))

    async def list(self, user: str, limit: int = 50) -> list[Memory]:
        """Return the user's memories, newest first."""
        memories = [_memory(item) for item in await self._live(user)]
        return sorted(memories, key=age, reverse=True)[: max(limit, 0)]

    async def forget(self, user: str, memory_id: str) -> None:
        """Delete a memory, or raise NotFound."""
        pointer = await self._table.get(_id_key(user, memory_id))
        if pointer is None:
            raise NotFound
        way = _id_key(user, memory_id)
        await self._table.delete(Key(way.pk, pointer["memory"]))
        await self._table.delete(way)

    async def _live(self, user: str) -> Sequence[Item]:
        query = Query(pk=_partition(user), condition="begins_with(#sk, :memories)", values={":memories": "MEMORY#"})
        now = sortable(self._clock.now())
        return [item for item in await self._table.query(query) if item.get("ends_at", "9") > now]

    def _item(self, memory: Memory, kept_id: str, content: str, vector: Sequence[float]) -> Item:
        return {
            **_memory_key(memory.user, content)._asdict(),
            "id": kept_id,
            "user": memory.user,
            "content": content,
            "kind": memory.kind.value,
            "category": memory.category,
            # As text: the SDK takes no floats.
            "importance": repr(memory.importance),
            "created_at": sortable(memory.created_at),
            "ends_at": sortable(memory.expires_at) if memory.expires_at else None,
            "model": self._embedder.name,
            "vector": _text_of(vector),
            **_expiry(memory),
        }


def _partition(user: str) -> str:
    return f"USER#{user}"


def _memory_key(user: str, content: str) -> Key:
    return Key(_partition(user), f"MEMORY#{_digest(likeness_key(content))}")


def _id_key(user: str, memory_id: str) -> Key:
    return Key(_partition(user), f"MEMORY_ID#{_digest(memory_id)}")


def _digest(text: str) -> str:
    return hashlib.sha256(storable(text).encode()).hexdigest()


def _expiry(memory: Memory) -> Item:
    return {"expires_at": int(memory.expires_at.timestamp())} if memory.expires_at else {}


def _text_of(vector: Sequence[float]) -> str:
    return b64encode(blob_of(vector)).decode()


def _fitting(asked: Sequence[float], text: str, items: Sequence[Item], limit: int) -> list[Memory]:
    meanings = likenesses(asked, [b64decode(item["vector"]) for item in items])
    keywords = keyword_scores(text, [item["content"] for item in items])
    return chosen(
        (
            Candidate(_memory(item), meaning, keyword)
            for item, meaning, keyword in zip(items, meanings, keywords, strict=True)
        ),
        limit,
    )


def _memory(item: Item) -> Memory:
    return Memory(
        id=item["id"],
        user=item["user"],
        content=item["content"],
        created_at=datetime.fromisoformat(item["created_at"]),
        kind=MemoryKind(item["kind"]),
        category=item["category"],
        importance=float(item["importance"]),
        expires_at=datetime.fromisoformat(item["ends_at"]) if item.get("ends_at") else None,
    )
