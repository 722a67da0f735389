"""Lists reminders."""

from collections.abc import Mapping

from tertulia.domain.effects import Effect
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext
from tertulia.ports.reminders import ReminderBook
from tertulia.tools.reminder_words import line_of, reminder_data

NONE = "There are no reminders."


class ListReminders:
    """Tells what the user will be reminded of."""

    is_configured = True
    spec = ToolSpec(
        name="list_reminders",
        description="List the user's reminders with their times, the next one first.",
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
        effect=Effect.NONE,
        taints=True,
    )

    def __init__(self, reminders: ReminderBook) -> None:
        self._reminders = reminders

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG002
        """List those that ring or will."""
        found = await self._reminders.open(context.user)
        return ToolResult(
            text="\n".join(f"- {line_of(each)}" for each in found) or NONE,
            summary=str(len(found)),
            data={"reminders": [reminder_data(each) for each in found]},
        )
