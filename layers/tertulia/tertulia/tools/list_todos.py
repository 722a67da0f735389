"""Reads the user's list of to-dos."""

from collections.abc import Mapping, Sequence

from tertulia.domain.cuts import one_line
from tertulia.domain.effects import Effect
from tertulia.domain.errors import ServiceFailed
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.domain.todos import Todo
from tertulia.ports import ToolContext
from tertulia.ports.tools import TodoList
from tertulia.tools.todo_choice import title_of, todo_data

MOST_CHARACTERS = 9_000
"""Of all lines together, so that the end can say how many are left."""
MOST_NOTE_CHARACTERS = 120


class ListTodos:
    """Lists the to-dos."""

    is_configured = True
    spec = ToolSpec(
        name="list_todos",
        description="Read the user's to-do list: what is still open, or with what is done.",
        parameters={
            "type": "object",
            "properties": {
                "with_done": {"type": "boolean", "description": "Whether to tell what is done, too; false if left out."}
            },
            "additionalProperties": False,
        },
        effect=Effect.NONE,
        taints=True,
    )

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos

    @property
    def service(self) -> str:
        """Where the list is kept."""
        return self._todos.name

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Return the list."""
        with_done = arguments.get("with_done") is True
        try:
            todos = await self._todos.list(context.user, with_done=with_done)
        except ServiceFailed as failure:
            text = f"The list could not be read. {failure.message}"
            return ToolResult(text=text, ok=False, summary=failure.message)
        data = {"count": len(todos), "todos": [todo_data(todo) for todo in todos]}
        if not todos:
            return ToolResult(
                text="The to-do list is empty." if with_done else "Nothing is open.", summary="0", data=data
            )
        head = f"{len(todos)} {'in all' if with_done else 'open'}, in {self._todos.name}:"
        return ToolResult(text="\n".join([head, *_lines(todos)]), summary=str(len(todos)), data=data)


def _lines(todos: Sequence[Todo]) -> list[str]:
    lines: list[str] = []
    room = MOST_CHARACTERS
    for place, todo in enumerate(todos, 1):
        line = f"{place}. {title_of(todo)}{_more(todo)}"
        room -= len(line) + 1
        if room < 0:
            return [*lines, f"… and {len(todos) - len(lines)} more"]
        lines.append(line)
    return lines


def _more(todo: Todo) -> str:
    note = f": {one_line(todo.note, MOST_NOTE_CHARACTERS)}" if todo.note else ""
    return note + (" (done)" if todo.is_done else "")
