"""Adding, reading, ticking off and deleting to-dos: only what is surely meant is changed, and every change can be taken back."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tertulia.domain.effects import Effect
from tertulia.domain.errors import NotFound, ServiceFailed
from tertulia.domain.prompts import ToolResult
from tertulia.domain.todos import Todo, meant
from tertulia.ports import Tool, ToolContext
from tertulia.tools.add_todo import AddTodo
from tertulia.tools.complete_todo import CompleteTodo
from tertulia.tools.delete_todo import DeleteTodo
from tertulia.tools.list_todos import ListTodos

ANA = ToolContext(user="ana")


@dataclass
class TodoBook:
    """A list in memory; fails where it is told to."""

    todos: list[Todo] = field(default_factory=list)
    deleted: list[Todo] = field(default_factory=list)
    error: Exception | None = None
    name: str = "Tertulia"
    users: set[str] = field(default_factory=set)

    async def add(self, user: str, title: str, note: str = "") -> Todo:
        self._check(user)
        self.todos.append(Todo(id=f"t{len(self.todos)}", title=title, note=note))
        return self.todos[-1]

    async def list(self, user: str, *, with_done: bool = False) -> "list[Todo]":
        self._check(user)
        return [todo for todo in self.todos if with_done or not todo.is_done]

    async def complete(self, user: str, todo_id: str, *, done: bool = True, state: str = "") -> None:
        self._check(user)
        self.todos = [
            replace(todo, is_done=done, state="Done" if done else state) if todo.id == todo_id else todo
            for todo in self.todos
        ]

    async def delete(self, user: str, todo_id: str) -> None:
        self._check(user)
        self.deleted += [todo for todo in self.todos if todo.id == todo_id]
        self.todos = [todo for todo in self.todos if todo.id != todo_id]

    async def restore(self, user: str, todo_id: str) -> Todo:
        self._check(user)
        found = [todo for todo in self.deleted if todo.id == todo_id]
        if not found:
            raise NotFound
        self.todos += found
        return found[0]

    def _check(self, user: str) -> None:
        self.users.add(user)
        if self.error:
            raise self.error


def book(*titles: str) -> TodoBook:
    return TodoBook([Todo(id=f"t{place}", title=title, state="Doing") for place, title in enumerate(titles)])


async def undone(todos: TodoBook, result: ToolResult) -> ToolResult:
    assert result.undo
    tools: Mapping[str, Tool] = {"complete_todo": CompleteTodo(todos), "delete_todo": DeleteTodo(todos)}
    return await tools[result.undo.tool](result.undo.arguments, ANA)


async def test_what_was_added_is_on_the_list_and_off_it_again_once_undone() -> None:
    todos = book()

    added = await AddTodo(todos)({"title": "  Buy\nmilk ", "note": "two liters"}, ANA)

    assert (added.ok, added.text) == (True, "Added to the to-do list in Tertulia: Buy milk")
    assert added.data == {"id": "t0", "title": "Buy milk", "note": "two liters", "done": False}
    assert (await undone(todos, added)).ok
    assert todos.todos == []


@pytest.mark.parametrize(
    "arguments", [{}, {"title": " "}, {"title": 5}, {"title": "x" * 501}, {"title": "x", "note": "n" * 10_001}]
)
async def test_nothing_is_added_without_a_fit_title(arguments: Mapping[str, Any]) -> None:
    todos = book()

    assert not (await AddTodo(todos)(arguments, ANA)).ok
    assert todos.todos == []


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("buy milk", "Buy milk"),
        ("milk", "Buy milk"),
        ("MILK, buy!", "Buy milk"),
        ("dentist", "Call the dentist's office"),
        ("ＭＩＬＫ", "Buy milk"),
        ("牛奶", "买牛奶和面包"),
        ("pao", None),
        ("pão", "Comprar pão"),
        ("pa\u0303o", "Comprar pão"),
        ("우유", "우유를 사기"),
        ("t3", "Comprar pão"),
        ("mil", None),
        ("", None),
        ("?!", None),
    ],
)
def test_a_to_do_is_meant_by_its_words(words: str, title: str | None) -> None:
    todos = book("Buy milk", "Call the dentist's office", "买牛奶和面包", "Comprar pão", "우유를 사기").todos

    assert [todo.title for todo in meant(todos, words)] == ([title] if title else [])


def test_the_same_title_is_meant_before_one_that_holds_the_words() -> None:
    assert [todo.title for todo in meant(book("Milk", "Buy milk").todos, "milk")] == ["Milk"]


async def test_ticking_off_is_undone_with_the_state_from_before() -> None:
    todos = book("Buy milk", "Call Ben")

    done = await CompleteTodo(todos)({"todo": "milk"}, ANA)
    assert (done.ok, done.text) == (True, "Done: Buy milk")
    assert [todo.is_done for todo in todos.todos] == [True, False]

    assert (await undone(todos, done)).text == "Open again: Buy milk"
    assert todos.todos == book("Buy milk", "Call Ben").todos


async def test_deleting_is_undone_by_bringing_it_back_and_that_by_deleting() -> None:
    todos = book("Buy milk")

    gone = await DeleteTodo(todos)({"todo": "milk"}, ANA)
    assert (gone.ok, todos.todos) == (True, [])
    back = await undone(todos, gone)
    assert (back.ok, [todo.title for todo in todos.todos]) == (True, ["Buy milk"])
    assert (await undone(todos, back)).ok
    assert todos.todos == []


@pytest.mark.parametrize("tool", [CompleteTodo, DeleteTodo])
async def test_where_several_may_be_meant_nothing_is_changed_and_it_asks(
    tool: type[CompleteTodo] | type[DeleteTodo],
) -> None:
    todos = book("Buy milk", "Buy oat milk", "Call Ben")

    result = await tool(todos)({"todo": "buy"}, ANA)

    assert not result.ok
    assert result.text == "2 to-dos may be meant. Nothing was changed: ask which one.\n- Buy milk\n- Buy oat milk"
    assert result.undo is None
    assert todos.todos == book("Buy milk", "Buy oat milk", "Call Ben").todos


async def test_twins_are_told_apart_by_their_ids() -> None:
    todos = book("Buy milk", "Buy milk")

    asked = await DeleteTodo(todos)({"todo": "buy milk"}, ANA)
    assert "(id t0)" in asked.text
    assert "(id t1)" in asked.text

    assert (await DeleteTodo(todos)({"todo": "t1"}, ANA)).ok
    assert [todo.id for todo in todos.todos] == ["t0"]


@pytest.mark.parametrize("tool", [CompleteTodo, DeleteTodo])
async def test_where_none_is_meant_nothing_is_changed_and_it_says_what_there_is(
    tool: type[CompleteTodo] | type[DeleteTodo],
) -> None:
    todos = book(*(f"Task {number}" for number in range(12)))

    result = await tool(todos)({"todo": "umbrella"}, ANA)

    assert not result.ok
    assert "No to-do is called 'umbrella'" in result.text
    assert result.text.count("- Task") == 10
    assert "… and 2 more" in result.text
    assert (await tool(book())({"todo": "umbrella"}, ANA)).text.endswith("The list is empty.")


async def test_what_is_done_already_is_left_as_it_is() -> None:
    todos = book("Buy milk")
    await CompleteTodo(todos)({"todo": "milk"}, ANA)

    again = await CompleteTodo(todos)({"todo": "milk"}, ANA)

    assert (again.ok, again.text, again.undo) == (True, "It was done already: Buy milk", None)


@pytest.mark.parametrize("arguments", [{}, {"todo": " "}, {"todo": 3}, {"todo": None}])
@pytest.mark.parametrize("tool", [CompleteTodo, DeleteTodo])
async def test_without_words_nothing_is_changed(
    tool: type[CompleteTodo] | type[DeleteTodo], arguments: Mapping[str, Any]
) -> None:
    todos = book("Buy milk")

    assert not (await tool(todos)(arguments, ANA)).ok
    assert todos.users == set()


@pytest.mark.parametrize("error", [ServiceFailed("Notion cannot be reached."), NotFound()])
async def test_a_list_that_fails_changes_nothing_and_says_why(error: Exception) -> None:
    todos = book("Buy milk")
    todos.error = error
    calls: list[tuple[Tool, Mapping[str, Any]]] = [
        (CompleteTodo(todos), {"todo": "milk"}),
        (DeleteTodo(todos), {"todo": "milk"}),
        (DeleteTodo(todos), {"todo": "t0", "restore": True}),
    ]
    if isinstance(error, ServiceFailed):
        calls += [(AddTodo(todos), {"title": "x"}), (ListTodos(todos), {})]

    for tool, arguments in calls:
        result = await tool(arguments, ANA)
        assert not result.ok
        assert result.undo is None
        assert isinstance(error, NotFound) or "Notion cannot be reached." in result.text


async def test_the_list_is_told_in_order_with_notes_and_what_is_done() -> None:
    todos = TodoBook([Todo(id="a", title="Buy milk", note="two\nliters"), Todo(id="b", title="Call Ben", is_done=True)])

    opened, whole = await ListTodos(todos)({}, ANA), await ListTodos(todos)({"with_done": True}, ANA)

    assert opened.text == "1 open, in Tertulia:\n1. Buy milk: two liters"
    assert whole.text == "2 in all, in Tertulia:\n1. Buy milk: two liters\n2. Call Ben (done)"
    assert whole.data["count"] == 2
    assert (await ListTodos(book())({}, ANA)).text == "Nothing is open."


async def test_a_long_list_is_cut_and_says_how_much_is_left() -> None:
    result = await ListTodos(book(*(f"{number} " + "word " * 60 for number in range(200))))({}, ANA)

    shown = result.text.count("\n") - 1
    assert len(result.text) < 9_500
    assert result.text.endswith(f"… and {200 - shown} more")
    assert result.data["count"] == 200


def test_how_far_each_of_them_reaches() -> None:
    specs = {tool.spec.name: tool.spec for tool in (AddTodo, ListTodos, CompleteTodo, DeleteTodo)}

    assert {name: spec.effect for name, spec in specs.items()} == {
        "add_todo": Effect.REVERSIBLE,
        "list_todos": Effect.NONE,
        "complete_todo": Effect.REVERSIBLE,
        "delete_todo": Effect.DESTRUCTIVE,
    }
    assert [name for name, spec in specs.items() if not spec.taints] == ["add_todo"]
    assert DeleteTodo(book()).effect_of({"todo": "t0", "restore": True}) is Effect.REVERSIBLE
    assert DeleteTodo(book()).effect_of({"todo": "t0", "restore": "yes"}) is Effect.DESTRUCTIVE
