"""Tells what the user has set, and what they like."""

from collections.abc import Mapping

from tertulia.domain.accounts import UserSettings
from tertulia.domain.effects import Effect
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext
from tertulia.ports.accounts import UserStore
from tertulia.ports.memories import MemoryStore
from tertulia.tools.search_memory import line

LIKINGS = ("preference", "interest", "habit")
SETTINGS = "settings"
LOOKED_THROUGH = 200
"""Of the memories that matter most now."""
MOST_TOLD = 30
UNKNOWN = ToolResult(text=f"Ask for one of: {', '.join((SETTINGS, *LIKINGS))}; or leave it out for all.", ok=False)


class GetUserPreferences:
    """Looks up a user's settings and likings."""

    is_configured = True
    spec = ToolSpec(
        name="get_user_preferences",
        description="Look up the user's settings (language, time zone, voice, style) and what they like, do often, or care for.",
        parameters={
            "type": "object",
            "properties": {
                "category": {
                    "type": "string",
                    "enum": [SETTINGS, *LIKINGS],
                    "description": "One kind alone; all of them if left out.",
                }
            },
            "additionalProperties": False,
        },
        effect=Effect.NONE,
        taints=True,
    )

    def __init__(self, users: UserStore, memories: MemoryStore) -> None:
        self._users = users
        self._memories = memories

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Return the settings and the likings, or one kind of them."""
        category = arguments.get("category")
        if category not in (None, "", SETTINGS, *LIKINGS):
            return UNKNOWN
        kinds = {category} if category else {SETTINGS, *LIKINGS}
        settings = _set(await self._users.settings(context.user), context) if SETTINGS in kinds else {}
        known = await self._memories.important(context.user, LOOKED_THROUGH) if kinds & set(LIKINGS) else []
        likings = [memory for memory in known if memory.category in kinds][:MOST_TOLD]
        lines = [*(f"{name}: {value}" for name, value in settings.items()), *map(line, likings)]
        told = [{"id": memory.id, "text": memory.content, "category": memory.category} for memory in likings]
        return ToolResult(
            text="\n".join(lines) or "Nothing of the kind is known yet.",
            summary=str(len(lines)),
            data={"settings": settings, "preferences": told},
        )


def _set(settings: UserSettings, context: ToolContext) -> dict[str, str]:
    """Return what applies now: what the user has set, else what holds for this turn."""
    found = {
        "language": settings.language or context.language,
        "timezone": settings.timezone or context.timezone,
        "voice": settings.voice,
        "style": settings.style.value if settings.style else None,
    }
    return {name: value for name, value in found.items() if value}
