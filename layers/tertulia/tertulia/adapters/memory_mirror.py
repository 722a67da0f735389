"""One user's memories, whole, in the memory of this process: what recall asks."""

import heapq
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from tertulia.adapters.keyword_index import KeywordIndex
from tertulia.adapters.memory_choice import Candidate, age, chosen, likeness_key
from tertulia.adapters.vector_shelf import VectorShelf
from tertulia.domain.memories import SEMANTIC_WITH_KEYWORD, Memory
from tertulia.ports.memories import Changes, MemoryRecord

if TYPE_CHECKING:
    from collections.abc import Sequence


CONSIDERED = 256
"""How many of the nearest in meaning, and of those with the best words, are compared by both."""


class MemoryMirror:
    """A copy of a user's records, with the vectors of one model side by side and the words indexed."""

    def __init__(self, changes: Changes, model: str) -> None:
        self._model = model
        self._records: dict[str, MemoryRecord] = {}
        self._by_likeness: dict[str, str] = {}
        self._vectors = VectorShelf()
        self._words = KeywordIndex()
        self.take(changes)

    def take(self, changes: Changes) -> None:
        """Take over what was written since."""
        self.mark = changes.mark
        for record in changes.records:
            self._put(record)

    def __len__(self) -> int:
        return len(self._records)

    def get(self, memory_id: str) -> MemoryRecord | None:
        """Return a record."""
        return self._records.get(memory_id)

    def record(self, memory_id: str) -> MemoryRecord:
        """Return the record of a memory that is here."""
        return self._records[memory_id]

    def saying(self, content: str) -> Memory | None:
        """Return the memory of this content."""
        memory_id = self._by_likeness.get(likeness_key(content))
        return self._records[memory_id].memory if memory_id else None

    def all(self, now: datetime) -> list[Memory]:
        """Return what has not expired, newest first."""
        return sorted((memory for memory in self._memories() if memory.is_kept(now)), key=age, reverse=True)

    def of_key(self, key: str, now: datetime) -> list[Memory]:
        """Return what is true under a key."""
        return [memory for memory in self._memories() if key and memory.key == key and memory.is_true(now)]

    def stale(self, most: int) -> list[MemoryRecord]:
        """Return some records whose vector another model made."""
        others = (record for record in self._records.values() if record.model != self._model)
        return [record for record, _ in zip(others, range(most), strict=False)]

    def important(self, now: datetime, limit: int) -> list[Memory]:
        """Return what is true and matters most now."""
        true = [memory for memory in self._memories() if memory.is_true(now)]
        true.sort(key=lambda memory: (memory.importance_at(now), age(memory)), reverse=True)
        return true[: max(limit, 0)]

    def fitting(self, asked: "Sequence[float]", text: str, now: datetime, limit: int) -> list[Memory]:
        """Return what is true and fits a question, newest first."""
        compared = self._vectors.compared(asked)
        keywords = self._words.scores(text)
        wordiest = heapq.nlargest(CONSIDERED, keywords, key=keywords.__getitem__)
        names = {*compared.nearest(CONSIDERED, SEMANTIC_WITH_KEYWORD), *wordiest}
        candidates = (
            Candidate(self._records[name].memory, compared.of(name), keywords.get(name, 0.0)) for name in names
        )
        return chosen((each for each in candidates if each.memory.is_true(now)), limit)

    def _memories(self) -> Iterable[Memory]:
        return (record.memory for record in self._records.values())

    def _put(self, record: MemoryRecord) -> None:
        memory = record.memory
        self._drop(memory.id)
        likeness = likeness_key(memory.content)
        # Two processes may have written the same words at once: the later one is shown.
        if (other := self._by_likeness.get(likeness)) is not None:
            self._drop(other)
        self._records[memory.id] = record
        self._by_likeness[likeness] = memory.id
        self._words.put(memory.id, memory.content)
        if record.model == self._model:
            self._vectors.put(memory.id, record.vector)

    def _drop(self, memory_id: str) -> None:
        record = self._records.pop(memory_id, None)
        if record is not None:
            del self._by_likeness[likeness_key(record.memory.content)]
            self._words.remove(memory_id)
            self._vectors.remove(memory_id)
