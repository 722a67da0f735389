"""Finds what the user has told about themselves."""

from collections.abc import Mapping, Sequence

from tertulia.domain.cuts import one_line
from tertulia.domain.effects import Effect
from tertulia.domain.memories import Memory
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext
from tertulia.ports.memories import MemoryStore

RESULTS = 10
MOST_CHARACTERS = 400
NO_QUERY = ToolResult(text="Say in a few words what to look for.", ok=False)


class SearchMemory:
    """Searches what is remembered of the user."""

    is_configured = True
    spec = ToolSpec(
        name="search_memory",
        description="Search what the user has told you about themselves: facts, people, plans, health, preferences.",
        parameters={
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What to look for, in a few words."}},
            "required": ["query"],
            "additionalProperties": False,
        },
        effect=Effect.NONE,
        taints=True,
    )

    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Return the memories that fit, newest first, with their dates."""
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            return NO_QUERY
        return told(await self._memories.recall(context.user, query, RESULTS), "Nothing is remembered about that.")


def told(memories: Sequence[Memory], nothing: str) -> ToolResult:
    """Return memories as lines for a model, and whole for programs."""
    found = [
        {
            "id": memory.id,
            "text": memory.content,
            "category": memory.category,
            "created_at": memory.created_at.isoformat(),
        }
        for memory in memories
    ]
    data = {"count": len(found), "memories": found}
    return ToolResult(text="\n".join(map(line, memories)) or nothing, summary=str(len(found)), data=data)


def line(memory: Memory) -> str:
    """Return a memory as a line of its own, with its day."""
    return f"- {one_line(memory.content, MOST_CHARACTERS)} (created {memory.created_at:%Y-%m-%d})"
