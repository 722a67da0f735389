"""The tools the agent may use: one catalog for every surface."""

from collections.abc import Sequence
from dataclasses import dataclass

from tertulia.domain.prompts import ToolSpec
from tertulia.ports import Clock, Tool
from tertulia.ports.accounts import UserStore
from tertulia.ports.memories import MemoryStore
from tertulia.ports.reminders import ReminderBook
from tertulia.ports.tools import FindConversations, TodoList, WebSearch
from tertulia.tools.add_todo import AddTodo
from tertulia.tools.calculator import Calculator
from tertulia.tools.cancel_reminder import CancelReminder
from tertulia.tools.complete_todo import CompleteTodo
from tertulia.tools.current_time import CurrentTime
from tertulia.tools.delete_todo import DeleteTodo
from tertulia.tools.list_reminders import ListReminders
from tertulia.tools.list_todos import ListTodos
from tertulia.tools.remind_me import RemindMe
from tertulia.tools.search_conversations import SearchConversations
from tertulia.tools.search_memory import SearchMemory
from tertulia.tools.snooze_reminder import SnoozeReminder
from tertulia.tools.user_preferences import GetUserPreferences
from tertulia.tools.web_search import SearchWeb


@dataclass(frozen=True, kw_only=True)
class ToolNeeds:
    """What the tools work with."""

    engines: Sequence[WebSearch]
    web_seconds: float
    todos: TodoList
    memories: MemoryStore
    users: UserStore
    reminders: ReminderBook
    find_conversations: FindConversations


def built_in_tools(clock: Clock) -> tuple[Tool, ...]:
    """Return the tools that need nothing but the time."""
    return (Calculator(), CurrentTime(clock))


def tools_over(needs: ToolNeeds) -> tuple[Tool, ...]:
    """Return the tools that look something up or change something."""
    return (
        SearchWeb(needs.engines, needs.web_seconds),
        SearchConversations(needs.find_conversations),
        SearchMemory(needs.memories),
        GetUserPreferences(needs.users, needs.memories),
        AddTodo(needs.todos),
        ListTodos(needs.todos),
        CompleteTodo(needs.todos),
        DeleteTodo(needs.todos),
        RemindMe(needs.reminders),
        ListReminders(needs.reminders),
        CancelReminder(needs.reminders),
        SnoozeReminder(needs.reminders),
    )


def find_tool(tools: Sequence[Tool], name: str) -> Tool | None:
    """Return the tool of that name, or None."""
    return next((tool for tool in tools if tool.spec.name == name), None)


def tool_specs(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """Return what a model is told: the tools that could run now."""
    return tuple(tool.spec for tool in tools if tool.is_configured)
