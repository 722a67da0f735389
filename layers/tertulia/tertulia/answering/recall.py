"""Recall with a deadline: what comes later joins the conversation's next turn."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from tertulia.domain.errors import TertuliaError
from tertulia.domain.memories import Memory
from tertulia.ports import Question
from tertulia.ports.memories import MemoryStore

CONVERSATIONS_WAITING = 256
"""How many conversations may have a late recall kept for them."""


@dataclass(frozen=True)
class Recalled:
    """The memories that came in time, and what was missing."""

    memories: tuple[Memory, ...]
    missing: str = ""


@dataclass(frozen=True)
class Recall:
    """Asks the memory store beside everything else, for `seconds` at most."""

    store: MemoryStore | None
    seconds: float = 0.15
    _late: OrderedDict[str, asyncio.Task[list[Memory]]] = field(default_factory=OrderedDict)

    async def __call__(self, question: Question) -> Recalled:
        """Return what fits the question, the late finds of the turn before included."""
        if self.store is None:
            return Recalled((), "memories: not configured")
        limit = question.request.surface.memories
        earlier = self._late_finds(question.conversation.id)
        task = asyncio.create_task(self._found(self.store, question))
        await asyncio.wait({task}, timeout=self.seconds)
        if not task.done():
            self._keep(question.conversation.id, task)
            return Recalled(tuple(earlier[:limit]), "memories: late")
        try:
            found = task.result()
        except TertuliaError:
            return Recalled(tuple(earlier[:limit]), "memories")
        together = {memory.id: memory for memory in (*found, *earlier)}
        newest_first = sorted(together.values(), key=lambda memory: memory.created_at, reverse=True)
        return Recalled(tuple(newest_first[:limit]))

    @staticmethod
    async def _found(store: MemoryStore, question: Question) -> list[Memory]:
        user, surface = question.request.user, question.request.surface
        fitting = await store.recall(user, question.text, surface.memories)
        if not surface.fills_memories or len(fitting) >= surface.memories:
            return fitting
        known = {memory.id for memory in fitting}
        more = await store.important(user, surface.memories)
        return [*fitting, *(memory for memory in more if memory.id not in known)][: surface.memories]

    def _keep(self, conversation_id: str, task: asyncio.Task[list[Memory]]) -> None:
        # Fetching the exception keeps a late failure from being reported as never retrieved.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._late[conversation_id] = task
        while len(self._late) > CONVERSATIONS_WAITING:
            self._late.popitem(last=False)[1].cancel()

    def _late_finds(self, conversation_id: str) -> list[Memory]:
        task = self._late.pop(conversation_id, None)
        if task is None or not task.done() or task.cancelled() or task.exception():
            return []
        return task.result()
