"""What tools work with in the world outside: the web, lists of to-dos, past talks, and tools that others bring."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tertulia.domain.summaries import Match
from tertulia.domain.todos import Todo
from tertulia.ports import Tool


@dataclass(frozen=True, kw_only=True)
class WebResult:
    """A page that a search has found."""

    title: str
    url: str
    snippet: str


class WebSearch(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """Its name, for people."""
        ...

    async def search(self, query: str, limit: int) -> list[WebResult]:
        """Return what was found, maybe nothing; raises ServiceFailed where it could not search."""
        ...


class TodoList(Protocol):
    """The to-dos of users. All methods raise ServiceFailed where the list cannot be reached."""

    @property
    def name(self) -> str:
        """Where it is kept, for people."""
        ...

    async def add(self, user: str, title: str, note: str = "") -> Todo:
        """Keep a new to-do, with its note or not at all."""
        ...

    async def list(self, user: str, *, with_done: bool = False) -> list[Todo]:
        """Return the to-dos, the open ones alone unless told otherwise, oldest first."""
        ...

    async def complete(self, user: str, todo_id: str, *, done: bool = True, state: str = "") -> None:
        """Mark a to-do as done, or as open again in a state that it had before; raises NotFound."""
        ...

    async def delete(self, user: str, todo_id: str) -> None:
        """Take a to-do off the list; it can be brought back for a day at least. Raises NotFound."""
        ...

    async def restore(self, user: str, todo_id: str) -> Todo:
        """Bring a deleted to-do back; raises NotFound."""
        ...


class OwnTodoList(TodoList, Protocol):
    """A list that is kept here, and goes with its user."""

    async def delete_all(self, user: str) -> int:
        """Erase every to-do of the user, deleted ones too; return how many."""
        ...


class FindConversations(Protocol):
    """Finds past conversations by what they were about."""

    async def __call__(self, user: str, query: str, limit: int) -> Sequence[Match]:
        """Return the user's conversations that fit, the best first."""
        ...


class ToolProvider(Protocol):
    """Brings tools that differ from user to user."""

    async def tools(self, user: str) -> Sequence[Tool]:
        """Return the user's tools; what cannot be reached now brings none."""
        ...


@runtime_checkable
class NamesService(Protocol):
    """A tool that tells which service does its work now."""

    @property
    def service(self) -> str:
        """The service's name, for people; empty while none is set up."""
        ...
