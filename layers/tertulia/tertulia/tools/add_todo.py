"""Puts something on the user's list of to-dos."""

from collections.abc import Mapping

from tertulia.domain.effects import Effect, UndoStep
from tertulia.domain.errors import ServiceFailed
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.domain.todos import MOST_NOTE_CHARACTERS, MOST_TITLE_CHARACTERS
from tertulia.ports import ToolContext
from tertulia.ports.tools import TodoList
from tertulia.tools.todo_choice import title_of, todo_data

NO_TITLE = "Say what to put on the list."
TOO_LONG = (
    f"A to-do has a title of at most {MOST_TITLE_CHARACTERS} characters, and a note of at most {MOST_NOTE_CHARACTERS}."
)


class AddTodo:
    """Adds a to-do."""

    is_configured = True
    spec = ToolSpec(
        name="add_todo",
        description="Put something on the user's to-do list, in the user's own words. For a time of day, set a reminder instead.",
        parameters={
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "What is to be done, in a few words."},
                "note": {"type": "string", "description": "More about it, only if the user said more."},
            },
            "required": ["title"],
            "additionalProperties": False,
        },
        effect=Effect.REVERSIBLE,
        taints=False,
    )

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos

    @property
    def service(self) -> str:
        """Where the list is kept."""
        return self._todos.name

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Add it, or say what is missing."""
        title, note = _text(arguments.get("title")), _text(arguments.get("note"))
        title = " ".join(title.split())
        if not title:
            return ToolResult(text=NO_TITLE, ok=False)
        if len(title) > MOST_TITLE_CHARACTERS or len(note) > MOST_NOTE_CHARACTERS:
            return ToolResult(text=TOO_LONG, ok=False)
        try:
            todo = await self._todos.add(context.user, title, note)
        except ServiceFailed as failure:
            return ToolResult(text=f"It was not added. {failure.message}", ok=False, summary=failure.message)
        return ToolResult(
            text=f"Added to the to-do list in {self._todos.name}: {title_of(todo)}",
            summary=title_of(todo),
            data=todo_data(todo),
            undo=UndoStep(tool="delete_todo", arguments={"todo": todo.id}),
        )


def _text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""
