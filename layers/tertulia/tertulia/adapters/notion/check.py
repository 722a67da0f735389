"""Whether the Notion database can hold to-dos, and which of its columns would be used."""

from collections.abc import Sequence
from dataclasses import dataclass

from tertulia.adapters.notion.todos import NO_MARK, NotionTodos
from tertulia.domain.checkups import Finding, fine, note, problem
from tertulia.domain.errors import ServiceFailed


@dataclass(frozen=True)
class NotionDatabase:
    """The database of to-dos, as the assistant would use it."""

    todos: NotionTodos
    matter: str = "to-dos in Notion"

    async def __call__(self) -> Sequence[Finding]:
        """Look at its columns."""
        try:
            columns = await self.todos.columns()
        except ServiceFailed as failure:
            return [
                problem(
                    self.matter,
                    failure.message,
                    "Look at NOTION_API_KEY, NOTION_DATABASE_ID and who it is shared with.",
                )
            ]
        finally:
            await self.todos.close()
        if columns.mark is None:
            return [note(self.matter, NO_MARK)]
        return [
            fine(
                self.matter,
                f"{columns.place}: {columns.title!r} is the title, {columns.mark.name!r} tells what is done.",
            )
        ]
