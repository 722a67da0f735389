"""Web search with Tavily, by its own SDK."""

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tertulia.adapters.web_failures import once_more, refused, unreachable, unreadable
from tertulia.ports import Clock
from tertulia.ports.tools import WebResult

if TYPE_CHECKING:
    import httpx
    from tavily import AsyncTavilyClient

TAVILY = "https://api.tavily.com"
USED_UP = frozenset({432, 433})
"""Tavily's own: the plan's limit is reached, or that of pay-as-you-go."""


class TavilySearch:
    """Asks Tavily; opens nothing before the first search."""

    name = "Tavily"

    def __init__(self, api_key: SecretStr, clock: Clock, base_url: str | None = None, seconds: float = 15.0) -> None:
        self._api_key = api_key
        self._clock = clock
        self._base_url = (base_url or TAVILY).rstrip("/").removesuffix("/search")
        self._seconds = seconds
        self._building = asyncio.Lock()
        self._opened: tuple[AsyncTavilyClient, httpx.AsyncClient] | None = None

    async def search(self, query: str, limit: int) -> list[WebResult]:
        """Return what was found; raises ServiceFailed."""
        sdk = await self._sdk()
        return await once_more(self._clock, lambda: self._asked(sdk, query, limit))

    async def close(self) -> None:
        """Close the pool, if one was ever opened."""
        if self._opened:
            await self._opened[1].aclose()

    async def _asked(self, sdk: "AsyncTavilyClient", query: str, limit: int) -> list[WebResult]:
        import httpx
        from tavily.errors import TimeoutError as TookTooLong

        try:
            answer = await sdk.search(query, max_results=limit, timeout=self._seconds)
        except TookTooLong as error:
            raise unreachable(self.name, late=True) from error
        except httpx.HTTPError as error:
            raise unreachable(self.name) from error
        except (ValueError, AttributeError) as error:
            # The SDK takes every answer for an object.
            raise unreadable(self.name) from error
        return _results(answer)

    async def _sdk(self) -> "AsyncTavilyClient":
        async with self._building:
            if self._opened is None:
                # The import takes a fifth of a second, in which other turns go on.
                self._opened = await asyncio.to_thread(self._built)
            return self._opened[0]

    def _built(self) -> "tuple[AsyncTavilyClient, httpx.AsyncClient]":
        import httpx
        from tavily import AsyncTavilyClient

        async def refuse(answer: httpx.Response) -> None:
            # The SDK raises one and the same error for a refused key and a spent plan, and drops Retry-After.
            if answer.status_code != httpx.codes.OK:
                raise refused(self.name, answer.status_code, answer.headers, USED_UP)

        key = self._api_key.get_secret_value()
        pool = httpx.AsyncClient(base_url=self._base_url, event_hooks={"response": [refuse]})
        return AsyncTavilyClient(api_key=key, api_base_url=self._base_url, client=pool), pool


def _results(answer: Any) -> list[WebResult]:
    found = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise unreadable(TavilySearch.name)
    return [
        WebResult(title=str(page.get("title") or ""), url=str(page["url"]), snippet=str(page.get("content") or ""))
        for page in found
        if isinstance(page, dict) and page.get("url")
    ]
