"""Ticks a to-do off, or opens it again."""

from collections.abc import Mapping
from functools import partial

from tertulia.domain.effects import Effect, UndoStep
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.domain.todos import Todo
from tertulia.ports import ToolContext
from tertulia.ports.tools import TodoList
from tertulia.tools.todo_choice import WHICH_TODO, changed, only_one, title_of, todo_data


class CompleteTodo:
    """Marks a to-do as done."""

    is_configured = True
    spec = ToolSpec(
        name="complete_todo",
        description="Mark one to-do as done, or with done false as open again. Acts only if one alone is meant.",
        parameters={
            "type": "object",
            "properties": {
                "todo": WHICH_TODO,
                "done": {"type": "boolean", "description": "True if left out; false opens it again."},
                "state": {"type": "string", "description": "With done false: the state that it had before; leave out."},
            },
            "required": ["todo"],
            "additionalProperties": False,
        },
        effect=Effect.REVERSIBLE,
        taints=True,
    )

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos

    @property
    def service(self) -> str:
        """Where the list is kept."""
        return self._todos.name

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:
        """Mark the one that is meant, or ask which one it is."""
        done, state = arguments.get("done") is not False, arguments.get("state")
        mark = partial(self._marked, context.user, state=state if isinstance(state, str) else "", done=done)
        return await changed(arguments.get("todo"), mark)

    async def _marked(self, user: str, words: str, *, state: str, done: bool) -> ToolResult:
        todos = await self._todos.list(user, with_done=True)
        found = only_one([todo for todo in todos if todo.is_done is not done], words)
        if isinstance(found, ToolResult):
            already = only_one([todo for todo in todos if todo.is_done is done], words)
            return _as_it_was(already) if isinstance(already, Todo) and found.summary == "0" else found
        await self._todos.complete(user, found.id, done=done, state=state)
        before = {"todo": found.id} if not done else {"todo": found.id, "done": False, "state": found.state}
        return ToolResult(
            text=f"{'Done' if done else 'Open again'}: {title_of(found)}",
            summary=title_of(found),
            data={**todo_data(found), "done": done},
            undo=UndoStep(tool="complete_todo", arguments=before),
        )


def _as_it_was(todo: Todo) -> ToolResult:
    text = f"It was {'done' if todo.is_done else 'open'} already: {title_of(todo)}"
    return ToolResult(text=text, summary=title_of(todo), data=todo_data(todo))
