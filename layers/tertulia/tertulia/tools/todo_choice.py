"""Which to-do somebody means: one alone is acted on, of several nobody but the user knows."""

from collections.abc import Awaitable, Callable, Sequence

from tertulia.domain.cuts import one_line
from tertulia.domain.errors import NotFound, ServiceFailed
from tertulia.domain.prompts import Json, ToolResult
from tertulia.domain.todos import Todo, meant

MOST_OFFERED = 10
MOST_TITLE_CHARACTERS = 200

WHICH_TODO: Json = {"type": "string", "description": "The words of its title, or its id."}
GONE = ToolResult(text="That to-do is no longer there. Nothing was changed.", ok=False)
NO_WORDS = ToolResult(text="Say which to-do is meant, by the words of its title.", ok=False)


async def changed(words: Json, change: Callable[[str], Awaitable[ToolResult]]) -> ToolResult:
    """Make a change to what the words mean, or say why nothing was changed."""
    if not isinstance(words, str) or not words.strip():
        return NO_WORDS
    try:
        return await change(words.strip())
    except NotFound:
        return GONE
    except ServiceFailed as failure:
        return ToolResult(text=f"Nothing was changed. {failure.message}", ok=False, summary=failure.message)


def only_one(todos: Sequence[Todo], words: str) -> Todo | ToolResult:
    """Return the to-do that is meant, or what to ask instead of acting."""
    found = meant(todos, words)
    if len(found) == 1:
        return found[0]
    said = one_line(words, MOST_TITLE_CHARACTERS)
    if not found:
        rest = f" There are:\n{_offered(todos)}" if todos else " The list is empty."
        return ToolResult(text=f"No to-do is called {said!r}. Nothing was changed.{rest}", ok=False, summary="0")
    text = f"{len(found)} to-dos may be meant. Nothing was changed: ask which one.\n{_offered(found)}"
    return ToolResult(text=text, ok=False, summary=f"{len(found)}?")


def title_of(todo: Todo) -> str:
    """Return a to-do's title as a model is shown it."""
    return one_line(todo.title, MOST_TITLE_CHARACTERS)


def todo_data(todo: Todo) -> Json:
    """Return a to-do for programs."""
    return {"id": todo.id, "title": todo.title, "note": todo.note, "done": todo.is_done}


def _offered(todos: Sequence[Todo]) -> str:
    titles = [title_of(todo) for todo in todos]
    lines = [
        # Only their ids tell twins apart.
        f"- {title} (id {todo.id})" if titles.count(title) > 1 else f"- {title}"
        for todo, title in zip(todos, titles, strict=True)
    ]
    rest = [f"- … and {len(lines) - MOST_OFFERED} more"] if len(lines) > MOST_OFFERED else []
    return "\n".join([*lines[:MOST_OFFERED], *rest])
