"""One connection to Notion by its own SDK: the key, the address, one deadline, one way to fail."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tertulia.domain.errors import ServiceFailed

if TYPE_CHECKING:
    from notion_client import AsyncClient

NOTION = "https://api.notion.com"
VERSION = "2025-09-03"
"""The first one with data sources, and the one that the SDK is made for."""

logger = logging.getLogger(__name__)


class Missing(ServiceFailed):
    """Notion shows no such thing to this key."""


class Refused(ServiceFailed):
    """Notion does not take what was sent: a column may have changed meanwhile."""


_FAILURES: Mapping[str, tuple[type[ServiceFailed], str]] = MappingProxyType(
    {
        "unauthorized": (ServiceFailed, "Notion does not accept the key: NOTION_API_KEY needs a valid one."),
        "restricted_resource": (
            ServiceFailed,
            "Notion does not let this integration do that: it needs to be allowed to read, insert and update content.",
        ),
        "object_not_found": (
            Missing,
            "Notion does not show the database to this integration: connect it there, and check NOTION_DATABASE_ID.",
        ),
        "rate_limited": (ServiceFailed, "Notion is asked too often just now. Try again in a minute."),
        "validation_error": (Refused, "Notion did not take that: its database may have changed."),
        "conflict_error": (ServiceFailed, "Somebody changed the same thing in Notion just now. Try again."),
    }
)
_DOWN = (ServiceFailed, "Notion could not do it just now.")
_LATE = "Notion took too long. It may have been done all the same: look at the list before trying again."


class NotionConnection:
    """Speaks with Notion; opens nothing before the first call."""

    def __init__(self, api_key: SecretStr, base_url: str | None = None, seconds: float = 15.0) -> None:
        self._api_key = api_key
        self._base_url = (base_url or NOTION).rstrip("/").removesuffix("/v1")
        self._seconds = seconds
        self._building = asyncio.Lock()
        self._opened: AsyncClient | None = None

    async def call(self, request: "Callable[[AsyncClient], Awaitable[Any]]") -> Mapping[str, Any]:
        """Ask; raises Missing, Refused or ServiceFailed."""
        sdk = await self._sdk()
        import httpx
        from notion_client.errors import HTTPResponseError, RequestTimeoutError

        try:
            async with asyncio.timeout(self._seconds):
                answer = await request(sdk)
        except (TimeoutError, RequestTimeoutError) as error:
            raise ServiceFailed(_LATE) from error
        except HTTPResponseError as error:
            raise _failure(error.code, error.status) from error
        except httpx.HTTPError as error:
            raise ServiceFailed("Notion cannot be reached.") from error
        except ValueError as error:
            raise ServiceFailed("Notion answered with something that is no answer.") from error
        if not isinstance(answer, dict):
            raise ServiceFailed("Notion answered with something that is no answer.")
        return answer

    async def close(self) -> None:
        """Close the pool, if one was ever opened."""
        if self._opened is not None:
            await self._opened.aclose()

    async def _sdk(self) -> "AsyncClient":
        async with self._building:
            if self._opened is None:
                # The import takes a tenth of a second, in which other turns go on.
                self._opened = await asyncio.to_thread(self._built)
            return self._opened

    def _built(self) -> "AsyncClient":
        from notion_client import AsyncClient
        from notion_client.client import ClientOptions, RetryOptions

        options = ClientOptions(
            auth=self._api_key.get_secret_value(),
            base_url=self._base_url,
            timeout_ms=int(self._seconds * 1000),
            notion_version=VERSION,
            # Without one of its own, the SDK adds a handler to its logger each time, and writes Notion's words there.
            logger=logging.getLogger("tertulia.notion"),
            log_level=logging.CRITICAL,
            retry=RetryOptions(max_retries=1, initial_retry_delay_ms=500, max_retry_delay_ms=3_000),
        )
        return AsyncClient(options)


def _failure(code: object, status: int) -> ServiceFailed:
    word = str(getattr(code, "value", code))
    kind, sentence = _FAILURES.get(word, _DOWN)
    logger.warning("Notion answered %s %s", status, word)
    return kind(sentence)
