"""Puts a reminder off, or takes note that the user knows."""

from collections.abc import Mapping
from dataclasses import replace

from tertulia.domain.effects import Effect
from tertulia.domain.errors import InvalidValue, NotFound
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.domain.reminders import USUAL_SNOOZE_MINUTES, ReminderState
from tertulia.ports import ToolContext
from tertulia.ports.reminders import ReminderBook
from tertulia.tools.reminder_words import GONE, WHEN, WHICH, line_of, only_one, reminder_data, wanted_by, words_in


class SnoozeReminder:
    """Has a reminder ring again later, or no more."""

    is_configured = True
    spec = ToolSpec(
        name="snooze_reminder",
        description="Put a reminder off until later, or mark one that rang as done."
        f" Without a time it comes again in {USUAL_SNOOZE_MINUTES} minutes.",
        parameters={
            "type": "object",
            "properties": {
                "reminder": WHICH
                | {"description": "The words of its text, or its id; leave out for the one that rang."},
                "when": WHEN,
                "done": {"type": "boolean", "description": "True if the user knows and wants to hear it no more."},
            },
            "additionalProperties": False,
        },
        effect=Effect.REVERSIBLE,
        taints=True,
    )

    def __init__(self, reminders: ReminderBook) -> None:
        self._reminders = reminders

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Put off the one that is meant, or ask."""
        reminders = await self._reminders.open(context.user)
        words = words_in(arguments, "reminder")
        if not words:
            ringing = [each for each in reminders if each.state is ReminderState.RINGING]
            reminders, words = ringing or reminders, ringing[0].id if len(ringing) == 1 else ""
        found = only_one(reminders, words)
        if isinstance(found, ToolResult):
            return found
        wanted = wanted_by(arguments, context)
        if not wanted.when:
            wanted = replace(wanted, when=f"in {USUAL_SNOOZE_MINUTES} minutes")
        try:
            if arguments.get("done") is True:
                changed = await self._reminders.acknowledge(context.user, found.id)
                return ToolResult(text=f"Done: {changed.text}", summary=changed.text, data=reminder_data(changed))
            changed = await self._reminders.snooze_for(context.user, found.id, wanted)
        except NotFound:
            return GONE
        except InvalidValue as refusal:
            return ToolResult(text=f"Nothing was changed. {refusal.message}", ok=False, summary=refusal.message)
        text = line_of(changed)
        return ToolResult(text=f"It comes again: {text}", summary=text, data=reminder_data(changed))
