"""Cancels a reminder, and brings it back."""

from collections.abc import Mapping

from tertulia.domain.effects import Effect, UndoStep
from tertulia.domain.errors import NotFound
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext
from tertulia.ports.reminders import ReminderBook
from tertulia.tools.reminder_words import GONE, WHICH, line_of, only_one, reminder_data, words_in


class CancelReminder:
    """Cancels a reminder."""

    is_configured = True
    spec = ToolSpec(
        name="cancel_reminder",
        description="Cancel one reminder, with all its repetitions. Acts only if one alone is meant.",
        parameters={
            "type": "object",
            "properties": {
                "reminder": WHICH,
                "restore": {"type": "boolean", "description": "True brings back a canceled one, by its id."},
            },
            "required": ["reminder"],
            "additionalProperties": False,
        },
        effect=Effect.REVERSIBLE,
        taints=True,
    )

    def __init__(self, reminders: ReminderBook) -> None:
        self._reminders = reminders

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Cancel the one that is meant, or ask which one it is."""
        words = words_in(arguments, "reminder")
        try:
            if arguments.get("restore") is True:
                back = await self._reminders.restore(context.user, words)
                undo = UndoStep(tool="cancel_reminder", arguments={"reminder": back.id})
                return ToolResult(
                    text=f"Back again: {line_of(back)}", summary=line_of(back), data=reminder_data(back), undo=undo
                )
            found = only_one(await self._reminders.open(context.user), words)
            if isinstance(found, ToolResult):
                return found
            await self._reminders.cancel(context.user, found.id)
        except NotFound:
            return GONE
        return ToolResult(
            text=f"Canceled: {line_of(found)}",
            summary=line_of(found),
            data=reminder_data(found),
            undo=UndoStep(tool="cancel_reminder", arguments={"reminder": found.id, "restore": True}),
        )
