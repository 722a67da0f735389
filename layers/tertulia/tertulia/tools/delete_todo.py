"""Takes a to-do off the list, and brings it back."""

from collections.abc import Mapping
from functools import partial

from tertulia.domain.cuts import one_line
from tertulia.domain.effects import Effect, UndoStep
from tertulia.domain.phrases import phrase
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext
from tertulia.ports.tools import TodoList
from tertulia.tools.todo_choice import MOST_TITLE_CHARACTERS, WHICH_TODO, changed, only_one, title_of, todo_data


class DeleteTodo:
    """Deletes a to-do."""

    is_configured = True
    spec = ToolSpec(
        name="delete_todo",
        description="Delete one to-do. Acts only if one alone is meant; to tick something off, use complete_todo.",
        parameters={
            "type": "object",
            "properties": {
                "todo": WHICH_TODO,
                "restore": {"type": "boolean", "description": "True brings back a deleted to-do, by its id."},
            },
            "required": ["todo"],
            "additionalProperties": False,
        },
        effect=Effect.DESTRUCTIVE,
        taints=True,
    )

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos

    @property
    def service(self) -> str:
        """Where the list is kept."""
        return self._todos.name

    def effect_of(self, arguments: Mapping[str, Json]) -> Effect:
        """Return how far a call reaches: what is brought back can be deleted again."""
        return Effect.REVERSIBLE if arguments.get("restore") is True else Effect.DESTRUCTIVE

    def question(self, arguments: Mapping[str, Json], language: str) -> str:
        """Return what to ask before deleting."""
        return phrase(
            "confirm_delete_todo", language, todo=one_line(str(arguments.get("todo", "")), MOST_TITLE_CHARACTERS)
        )

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Delete the one that is meant, or ask which one it is."""
        change = self._restored if arguments.get("restore") is True else self._deleted
        return await changed(arguments.get("todo"), partial(change, context.user))

    async def _deleted(self, user: str, words: str) -> ToolResult:
        found = only_one(await self._todos.list(user, with_done=True), words)
        if isinstance(found, ToolResult):
            return found
        await self._todos.delete(user, found.id)
        return ToolResult(
            text=f"Deleted: {title_of(found)}",
            summary=title_of(found),
            data=todo_data(found),
            undo=UndoStep(tool="delete_todo", arguments={"todo": found.id, "restore": True}),
        )

    async def _restored(self, user: str, todo_id: str) -> ToolResult:
        todo = await self._todos.restore(user, todo_id)
        return ToolResult(
            text=f"Brought back: {title_of(todo)}",
            summary=title_of(todo),
            data=todo_data(todo),
            undo=UndoStep(tool="delete_todo", arguments={"todo": todo.id}),
        )
