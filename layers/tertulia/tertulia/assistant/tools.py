"""What the agent can do, and what its tools work with: vendors where their keys are set, our own stores else."""

from typing import TYPE_CHECKING

from tertulia.ports import Tool
from tertulia.ports.tools import TodoList
from tertulia.settings import Settings
from tertulia.tools.catalog import ToolNeeds, built_in_tools, tools_over

if TYPE_CHECKING:
    from tertulia.adapters.brave import BraveSearch
    from tertulia.adapters.notion.todos import NotionTodos
    from tertulia.adapters.tavily import TavilySearch
    from tertulia.assistant import Assistant


def tavily(parts: "Assistant") -> "TavilySearch | None":
    """Build the search engine that is asked first."""
    settings = parts.settings
    if settings.tavily_api_key is None:
        return None
    from tertulia.adapters.tavily import TavilySearch

    return TavilySearch(settings.tavily_api_key, parts.clock, settings.tavily_base_url, settings.web_search_seconds)


def brave(parts: "Assistant") -> "BraveSearch | None":
    """Build the search engine that is asked next."""
    settings = parts.settings
    if settings.brave_api_key is None:
        return None
    from tertulia.adapters.brave import BraveSearch

    return BraveSearch(settings.brave_api_key, parts.clock, settings.brave_base_url, settings.web_search_seconds)


def todos(parts: "Assistant") -> TodoList:
    """Return the list in Notion where it is set up, else our own."""
    return notion_todos(parts.settings) or parts.stores.todos


def notion_todos(settings: Settings) -> "NotionTodos | None":
    """Build the list in Notion, where the key and the database are set."""
    if settings.notion_api_key is None or settings.notion_database_id is None:
        return None
    from tertulia.adapters.notion.connection import NotionConnection
    from tertulia.adapters.notion.todos import NotionTodos

    connection = NotionConnection(settings.notion_api_key, settings.notion_base_url, settings.notion_seconds)
    return NotionTodos(connection, settings.notion_database_id)


def tools(parts: "Assistant") -> tuple[Tool, ...]:
    """Build the tools that every user has."""
    needs = ToolNeeds(
        engines=tuple(engine for engine in (parts.tavily, parts.brave) if engine),
        web_seconds=parts.settings.web_search_seconds,
        todos=parts.todos,
        memories=parts.memories,
        users=parts.users,
        reminders=parts.reminders,
        find_conversations=parts.search,
    )
    return (*built_in_tools(parts.clock), *tools_over(needs))
