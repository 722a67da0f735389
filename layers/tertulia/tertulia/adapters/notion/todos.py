"""To-dos as the rows of a Notion database."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Any

from tertulia.adapters.notion.columns import Columns, columns_of
from tertulia.adapters.notion.connection import Missing, NotionConnection, Refused
from tertulia.domain.errors import NotFound, ServiceFailed
from tertulia.domain.todos import Todo

if TYPE_CHECKING:
    from notion_client import AsyncClient

ROWS_AT_ONCE = 100
MOST_PAGES = 50
MOST_BLOCKS = 100
"""Notion takes no more paragraphs in one call."""
MOST_TEXT = 1_000
"""Notion takes 2,000 of its own characters in one piece of text; ours may count twice there."""

NO_MARK = (
    "This Notion database has no status column and no checkbox that tells done, so nothing can be ticked off there."
)
NO_SOURCE = "Notion shows no data source in that database."

_PAGE_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)

logger = logging.getLogger(__name__)


class NotionTodos:
    """The to-dos in one Notion database, the same for every user of this deployment."""

    def __init__(self, connection: NotionConnection, database_id: str) -> None:
        self._connection = connection
        self._database_id = database_id
        self._known: Columns | None = None

    @property
    def name(self) -> str:
        """Notion, and which of several data sources once that is known."""
        return self._known.place if self._known else "Notion"

    async def add(self, user: str, title: str, note: str = "") -> Todo:  # noqa: ARG002
        """Add a row, its note as paragraphs on its page; with the whole note or not at all."""
        blocks = [list(some) for some in batched(_paragraphs(note), MOST_BLOCKS, strict=False)]

        async def create(columns: Columns) -> Mapping[str, Any]:
            return await self._ask(
                lambda sdk: sdk.pages.create(
                    parent={"type": "data_source_id", "data_source_id": columns.data_source_id},
                    properties={columns.title: {"title": [_text(title)]}},
                    children=blocks[0] if blocks else [],
                )
            )

        page = await self._with_columns(create)
        await self._write_on(str(page["id"]), blocks[1:])
        return Todo(id=str(page["id"]), title=title, note=note)

    async def list(self, user: str, *, with_done: bool = False) -> list[Todo]:  # noqa: ARG002
        """Read the rows, however many pages they fill, without those in the trash."""

        async def read(columns: Columns) -> list[Todo]:
            wishes = {} if with_done or columns.mark is None else {"filter": columns.mark.open_ones()}
            rows = await self._rows(columns.data_source_id, wishes)
            return [todo for todo in map(columns.todo_of, rows) if with_done or not todo.is_done]

        return await self._with_columns(read)

    async def complete(self, user: str, todo_id: str, *, done: bool = True, state: str = "") -> None:  # noqa: ARG002
        """Set the column that tells done."""
        page_id = _page_id(todo_id)

        async def mark(columns: Columns) -> Mapping[str, Any]:
            if columns.mark is None:
                raise ServiceFailed(NO_MARK)
            value = columns.mark.value(state, done=done)
            return await self._ask(lambda sdk: sdk.pages.update(page_id, properties=value))

        try:
            await self._with_columns(mark)
        except Missing as error:
            raise NotFound from error

    async def delete(self, user: str, todo_id: str) -> None:  # noqa: ARG002
        """Put a row into Notion's trash."""
        page_id = _page_id(todo_id)
        try:
            await self._ask(lambda sdk: sdk.pages.update(page_id, in_trash=True))
        except Missing as error:
            raise NotFound from error

    async def restore(self, user: str, todo_id: str) -> Todo:  # noqa: ARG002
        """Take a row of this database out of the trash."""
        page_id, columns = _page_id(todo_id), await self.columns()
        try:
            page = await self._ask(lambda sdk: sdk.pages.retrieve(page_id))
            if page.get("parent", {}).get("data_source_id") != columns.data_source_id or not _is_in_trash(page):
                raise NotFound
            await self._ask(lambda sdk: sdk.pages.update(page_id, in_trash=False))
        except (Missing, Refused) as error:
            raise NotFound from error
        return columns.todo_of(page)

    async def columns(self) -> Columns:
        """Return what the columns of the database mean; looked up once."""
        if self._known is None:
            self._known = await self._found_columns()
        return self._known

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def _rows(self, data_source_id: str, wishes: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = []
        cursor: str | None = None
        oldest_first = [{"timestamp": "created_time", "direction": "ascending"}]
        for _ in range(MOST_PAGES):
            asked = {"page_size": ROWS_AT_ONCE, "sorts": oldest_first, "start_cursor": cursor, **wishes}
            found = await self._page_of_rows(data_source_id, asked)
            rows += [row for row in found.get("results") or () if row.get("object") == "page" and not _is_in_trash(row)]
            cursor = found.get("next_cursor")
            if not found.get("has_more") or cursor is None:
                return rows
        logger.warning("the Notion database has more than %s rows; the rest was not read", MOST_PAGES * ROWS_AT_ONCE)
        return rows

    async def _page_of_rows(self, data_source_id: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        return await self._ask(lambda sdk: sdk.data_sources.query(data_source_id, **asked))

    async def _append(self, page_id: str, blocks: Sequence[Any]) -> None:
        await self._ask(lambda sdk: sdk.blocks.children.append(page_id, children=blocks))

    async def _write_on(self, page_id: str, blocks: Sequence[Sequence[Any]]) -> None:
        """Write the rest of a note, or take the whole page back."""
        try:
            for some in blocks:
                await self._append(page_id, some)
        except ServiceFailed:
            await self._ask(lambda sdk: sdk.pages.update(page_id, in_trash=True))
            raise

    async def _with_columns[T](self, work: Callable[[Columns], Awaitable[T]]) -> T:
        """Work with the columns as they are known; where Notion refuses, look whether somebody changed them."""
        columns = await self.columns()
        try:
            return await work(columns)
        except Refused:
            self._known = None
            if (now := await self.columns()) == columns:
                raise
            return await work(now)

    async def _found_columns(self) -> Columns:
        """Look into the database's first data source, or into the one that the setting names itself."""
        from notion_client.helpers import extract_notion_id

        wanted = extract_notion_id(self._database_id) or self._database_id
        try:
            database = await self._ask(lambda sdk: sdk.databases.retrieve(wanted))
        except Missing:
            return columns_of(await self._ask(lambda sdk: sdk.data_sources.retrieve(wanted)), "Notion")
        sources = database.get("data_sources") or ()
        if not sources:
            raise ServiceFailed(NO_SOURCE)
        place = "Notion"
        if len(sources) > 1:
            place = f"Notion, data source {sources[0].get('name')!r}, the first of {len(sources)}"
            logger.warning("to-dos go to %s; NOTION_DATABASE_ID may name another data source by its id", place)
        first = str(sources[0]["id"])
        return columns_of(await self._ask(lambda sdk: sdk.data_sources.retrieve(first)), place)

    async def _ask(self, request: "Callable[[AsyncClient], Awaitable[Any]]") -> Mapping[str, Any]:
        return await self._connection.call(request)


def _page_id(todo_id: str) -> str:
    """Return the id of a page; anything else in an address would lead elsewhere."""
    if not _PAGE_ID.fullmatch(todo_id):
        raise NotFound
    return todo_id


def _is_in_trash(page: Mapping[str, Any]) -> bool:
    return bool(page.get("in_trash") or page.get("archived"))


def _paragraphs(note: str) -> list[Mapping[str, Any]]:
    return [
        {
            "type": "paragraph",
            "paragraph": {"rich_text": [_text(line[at : at + MOST_TEXT]) for at in range(0, len(line), MOST_TEXT)]},
        }
        for line in note.splitlines()
    ]


def _text(content: str) -> Mapping[str, Any]:
    return {"type": "text", "text": {"content": content}}
