"""Sets reminders."""

from collections.abc import Mapping

from tertulia.domain.effects import Effect, UndoStep
from tertulia.domain.errors import Conflict, InvalidValue
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.domain.reminders import Unclear
from tertulia.ports import ToolContext
from tertulia.ports.reminders import ReminderBook
from tertulia.tools.reminder_words import WHEN, line_of, reminder_data, wanted_by

NOT_SET = "No reminder was set. "


class RemindMe:
    """Reminds the user of something at a time."""

    is_configured = True
    spec = ToolSpec(
        name="remind_me",
        description="Remind the user of something at a time: once, daily, on weekdays or weekly."
        " If the time is unclear it says what to ask; tell the user the time that was set.",
        parameters={
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What to remind them of, in a few of their own words."},
                "when": WHEN,
            },
            "required": ["text", "when"],
            "additionalProperties": False,
        },
        effect=Effect.REVERSIBLE,
        taints=False,
    )

    def __init__(self, reminders: ReminderBook) -> None:
        self._reminders = reminders

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Set it, or say what to ask."""
        try:
            reminder = await self._reminders.add(context.user, wanted_by(arguments, context))
        except Unclear as unclear:
            return ToolResult(text=NOT_SET + unclear.message, ok=False, summary=unclear.what.name.lower())
        except (InvalidValue, Conflict) as refusal:
            return ToolResult(text=NOT_SET + refusal.message, ok=False, summary=refusal.message)
        return ToolResult(
            text=f"The reminder is set: {line_of(reminder)}",
            summary=line_of(reminder),
            data=reminder_data(reminder),
            undo=UndoStep(tool="cancel_reminder", arguments={"reminder": reminder.id}),
        )
