"""Web search with Brave, over HTTP: there is no SDK of its own."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tertulia.adapters.web_failures import once_more, refused, unreachable, unreadable
from tertulia.ports import Clock
from tertulia.ports.tools import WebResult

if TYPE_CHECKING:
    import httpx

BRAVE = "https://api.search.brave.com"
PATH = "/res/v1/web/search"
USED_UP = frozenset({402})
QUOTA_CODE = "QUOTA_LIMITED"
MOST_WORDS = 50
"""Brave refuses more."""


class BraveSearch:
    """Asks Brave; opens nothing before the first search."""

    name = "Brave"

    def __init__(self, api_key: SecretStr, clock: Clock, base_url: str | None = None, seconds: float = 15.0) -> None:
        self._api_key = api_key
        self._clock = clock
        self._base_url = (base_url or BRAVE).rstrip("/").removesuffix(PATH)
        self._seconds = seconds

    async def search(self, query: str, limit: int) -> list[WebResult]:
        """Return what was found; raises ServiceFailed."""
        return await once_more(self._clock, lambda: self._asked(" ".join(query.split()[:MOST_WORDS]), limit))

    async def close(self) -> None:
        """Close the pool, if one was ever opened."""
        if "_pool" in self.__dict__:
            await self._pool.aclose()

    async def _asked(self, query: str, limit: int) -> list[WebResult]:
        import httpx

        wishes = {"q": query, "count": str(limit), "text_decorations": "false", "result_filter": "web"}
        try:
            answer = await self._pool.get(PATH, params=wishes)
        except httpx.HTTPError as error:
            raise unreachable(self.name, late=isinstance(error, httpx.TimeoutException)) from error
        body = _json(answer)
        if answer.status_code != httpx.codes.OK:
            status = min(USED_UP) if _code(body) == QUOTA_CODE else answer.status_code
            raise refused(self.name, status, answer.headers, USED_UP)
        return _results(body)

    @cached_property
    def _pool(self) -> "httpx.AsyncClient":
        import httpx

        key = self._api_key.get_secret_value()
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return httpx.AsyncClient(base_url=self._base_url, headers=headers, timeout=self._seconds)


def _json(answer: "httpx.Response") -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _code(body: Any) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("code")) if isinstance(error, dict) else ""


def _results(body: Any) -> list[WebResult]:
    if not isinstance(body, dict):
        raise unreadable(BraveSearch.name)
    # Without any page on the web, the whole part is left out.
    web = body.get("web") or {}
    found = web.get("results") if isinstance(web, dict) else None
    return [
        WebResult(title=str(page.get("title") or ""), url=str(page["url"]), snippet=str(page.get("description") or ""))
        for page in found or ()
        if isinstance(page, dict) and page.get("url")
    ]
