"""Finds what was talked about before."""

from collections.abc import Mapping

from tertulia.domain.cuts import one_line
from tertulia.domain.effects import Effect
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.domain.summaries import Match
from tertulia.ports import ToolContext
from tertulia.ports.tools import FindConversations

RESULTS = 5
MOST_OVERVIEW_CHARACTERS = 800
NO_QUERY = ToolResult(text="Say in a few words what the conversation was about.", ok=False)


class SearchConversations:
    """Searches the user's past conversations."""

    is_configured = True
    spec = ToolSpec(
        name="search_conversations",
        description="Search the user's earlier conversations with you by what they were about.",
        parameters={
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What it was about, in a few words."}},
            "required": ["query"],
            "additionalProperties": False,
        },
        effect=Effect.NONE,
        taints=True,
    )

    def __init__(self, find: FindConversations) -> None:
        self._find = find

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Return the conversations that fit; the present one is not among them, since the model reads it anyway."""
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            return NO_QUERY
        found = await self._find(context.user, query, RESULTS + 1)
        matches = [match for match in found if match.conversation_id != context.conversation_id][:RESULTS]
        data = {"count": len(matches), "matches": [_data(match) for match in matches]}
        if not matches:
            return ToolResult(text="No earlier conversation was about that.", summary="0", data=data)
        return ToolResult(
            text="\n\n".join(map(_told, matches)), summary=f"{len(matches)}: {matches[0].title}", data=data
        )


def _told(match: Match) -> str:
    overview = one_line(match.overview, MOST_OVERVIEW_CHARACTERS)
    return f"{match.created_at:%Y-%m-%d}: {one_line(match.title, MOST_OVERVIEW_CHARACTERS)}\n{overview}"


def _data(match: Match) -> Json:
    return {
        "conversation_id": match.conversation_id,
        "title": match.title,
        "overview": match.overview,
        "score": round(match.score, 3),
        "created_at": match.created_at.isoformat(),
    }
