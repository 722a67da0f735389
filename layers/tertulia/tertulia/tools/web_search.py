"""Looks things up on the web, with one search engine after the other."""

import asyncio
import time
from collections.abc import Mapping, Sequence

from tertulia.domain.cuts import at_a_word, one_line
from tertulia.domain.effects import Effect
from tertulia.domain.errors import ServiceFailed
from tertulia.domain.prompts import Json, ToolResult, ToolSpec
from tertulia.ports import ToolContext
from tertulia.ports.tools import WebResult, WebSearch

RESULTS = 5
MOST_QUERY_CHARACTERS = 400
"""Both engines refuse more."""
MOST_SNIPPET_CHARACTERS = 300
MOST_TITLE_CHARACTERS = 200
MOST_ADDRESS_CHARACTERS = 1_000
SHARE_OF_THE_FIRST = 0.6
"""How much of the time an engine gets while another waits behind it."""

NO_QUERY = "Say in a few words what to search for."
NOT_SET_UP = (
    "Web search is not set up here: whoever runs this assistant can set TAVILY_API_KEY or BRAVE_API_KEY."
    " Tell the user kindly, and answer from what you know, saying that it may be out of date."
)


class SearchWeb:
    """Searches the web."""

    def __init__(self, engines: Sequence[WebSearch], seconds: float = 15.0) -> None:
        self._engines = engines
        self._seconds = seconds

    @property
    def spec(self) -> ToolSpec:
        """What the model is told about it."""
        return ToolSpec(
            name="web_search",
            description="Search the web for what is new, changes often, or you do not know. Returns pages with their addresses.",
            parameters={
                "type": "object",
                "properties": {"query": {"type": "string", "description": "A few search words, not a whole text."}},
                "required": ["query"],
                "additionalProperties": False,
            },
            effect=Effect.NONE,
            taints=True,
        )

    @property
    def is_configured(self) -> bool:
        """Whether there is an engine."""
        return bool(self._engines)

    @property
    def service(self) -> str:
        """The engines, in the order in which they are asked."""
        return ", ".join(engine.name for engine in self._engines)

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG002
        """Return what was found; that nothing was found is a result, that nobody searched is a failure."""
        asked = arguments.get("query")
        query = at_a_word(" ".join(asked.split()), MOST_QUERY_CHARACTERS) if isinstance(asked, str) else ""
        if not query:
            return ToolResult(text=NO_QUERY, ok=False)
        if not self._engines:
            return ToolResult(text=NOT_SET_UP, ok=False, summary="Web search is not set up")
        try:
            found = await self._found(query)
        except ServiceFailed as failure:
            text = f"The web could not be searched: {failure.message} Do not say that nothing was found."
            return ToolResult(text=text, ok=False, summary=failure.message)
        return _told(query, _shown(found))

    async def _found(self, query: str) -> list[WebResult]:
        """Ask one engine after the other until one has searched."""
        failures: list[str] = []
        until = time.monotonic() + self._seconds
        for engine in self._engines:
            left = max(until - time.monotonic(), 0)
            share = 1 if engine is self._engines[-1] else SHARE_OF_THE_FIRST
            try:
                async with asyncio.timeout(left * share):
                    return await engine.search(query, RESULTS)
            except ServiceFailed as failure:
                failures.append(failure.message)
            except TimeoutError:
                failures.append(f"{engine.name} took too long.")
        raise ServiceFailed(" ".join(failures))


def _shown(found: Sequence[WebResult]) -> list[WebResult]:
    """Return the results that a model is shown: each page once, with a plain address, and short."""
    pages = {page.url: page for page in reversed(found) if _is_address(page.url)}
    shown = [
        WebResult(
            title=one_line(page.title, MOST_TITLE_CHARACTERS) or page.url,
            url=page.url,
            snippet=one_line(page.snippet, MOST_SNIPPET_CHARACTERS),
        )
        for page in reversed(pages.values())
    ]
    return shown[:RESULTS]


def _is_address(url: str) -> bool:
    is_plain = url.isprintable() and " " not in url and len(url) <= MOST_ADDRESS_CHARACTERS
    return is_plain and url.lower().startswith(("https://", "http://"))


def _told(query: str, pages: Sequence[WebResult]) -> ToolResult:
    data = {
        "query": query,
        "count": len(pages),
        "results": [{"title": page.title, "url": page.url, "snippet": page.snippet} for page in pages],
    }
    if not pages:
        return ToolResult(text=f"The web was searched, and nothing was found for: {query}", summary="0", data=data)
    lines = (f"{place}. {page.title}\n{page.url}\n{page.snippet}" for place, page in enumerate(pages, 1))
    return ToolResult(text="\n\n".join(lines), summary=f"{len(pages)}: {pages[0].title}", data=data)
