"""Mem0's hosted service, by its own SDK: it stores each memory as it stands and extracts nothing from it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tertulia.domain.errors import QuotaUsedUp, ServiceFailed
from tertulia.domain.memories import Memory, MemorySource, memory_number
from tertulia.ports import Clock

if TYPE_CHECKING:
    from mem0.client.main import MemoryClient

PAGE = 100
MOST_PAGES = 100
SECONDS = 20.0
OWN = "own:"
"""How a memory is called whose id the service has not told: it stores in the back, and knows our own id by then."""
_METADATA = "tertulia_id"


class Mem0:
    """Asks Mem0; imports and opens nothing before it is needed, since the SDK takes a second."""

    def __init__(
        self, api_key: SecretStr, clock: Clock, base_url: str | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        self._api_key = api_key
        self._clock = clock
        self._base_url = base_url
        self._names = names or {}
        self._building = asyncio.Lock()
        self._built: MemoryClient | None = None

    async def add(self, memory: Memory) -> str:
        """Store the content as it stands and return its id there."""
        messages = [{"role": "user", "content": memory.content}]
        metadata = {_METADATA: memory.id, "category": memory.category, "kind": memory.kind.value}
        answer = await self._asked(
            lambda sdk: sdk.add(
                messages, user_id=self._name(memory.user), infer=False, metadata=metadata, async_mode=False
            )
        )
        return next((str(each["id"]) for each in _listed(answer) if each.get("id")), OWN + memory.id)

    async def remove(self, user: str, vendor_id: str) -> None:
        """Delete a memory there."""
        if not vendor_id.startswith(OWN):
            await self._remove(vendor_id)
            return
        for each in await self._all(user):
            if (each.get("metadata") or {}).get(_METADATA) == vendor_id.removeprefix(OWN):
                await self._remove(str(each["id"]))

    async def all(self, user: str) -> Sequence[Memory]:
        """Return everything that it keeps of this user."""
        now = self._clock.now()
        return [_memory(user, each, now) for each in await self._all(user)]

    async def close(self) -> None:
        """Close the connections, if any were opened."""
        if self._built is not None:
            await asyncio.to_thread(self._built.client.close)

    async def _all(self, user: str) -> list[Any]:
        """Return the user's entries; what is another's is dropped, whatever the service sends."""
        found: list[Any] = []
        name = self._name(user)
        filters = {"AND": [{"user_id": name}]}
        for page in range(1, MOST_PAGES + 1):
            answer = await self._asked(methodcaller("get_all", filters=filters, page=page, page_size=PAGE))
            found += [each for each in _listed(answer) if each.get("user_id") == name and each.get("id")]
            if not (isinstance(answer, dict) and answer.get("next")):
                break
        return found

    def _name(self, user: str) -> str:
        """Return what a user is called there: the single local user may have another name."""
        return self._names.get(user, user)

    async def _remove(self, vendor_id: str) -> None:
        await self._asked(lambda sdk: sdk.delete(vendor_id), missing_is_fine=True)

    async def _asked(self, ask: Callable[["MemoryClient"], Any], *, missing_is_fine: bool = False) -> Any:
        async with self._building:
            if self._built is None:
                self._built = await asyncio.to_thread(self._translated, self._opened)
        sdk = self._built
        return await asyncio.to_thread(self._translated, lambda: ask(sdk), missing_is_fine=missing_is_fine)

    def _opened(self) -> "MemoryClient":
        import httpx
        from mem0.client.main import MemoryClient

        pool = httpx.Client(timeout=SECONDS)
        try:
            return MemoryClient(api_key=self._api_key.get_secret_value(), host=self._base_url, client=pool)
        except BaseException:
            # It asks the service whether the key is good, and leaves the connection open where it is not.
            pool.close()
            raise

    def _translated[T](self, work: Callable[[], T], *, missing_is_fine: bool = False) -> T | None:
        """Do work of the SDK, its failures in our words."""
        import httpx
        from mem0 import exceptions as failures

        try:
            return work()
        except failures.MemoryNotFoundError as error:
            if missing_is_fine:
                return None
            raise ServiceFailed("Mem0 does not know this memory.") from error
        except failures.MemoryQuotaExceededError as error:
            raise QuotaUsedUp("The memory quota of Mem0 is used up.") from error
        except failures.RateLimitError as error:
            wait = error.debug_info.get("retry_after")
            raise ServiceFailed("Mem0 is asked too often just now.", retry_after=wait) from error
        except failures.AuthenticationError as error:
            raise ServiceFailed("Mem0 does not accept the key.") from error
        except (failures.MemoryError, httpx.HTTPError) as error:
            raise ServiceFailed("Mem0 could not be reached.") from error
        except ValueError as error:
            # The SDK's own name for a refused key, and for an answer that is no JSON.
            raise ServiceFailed("Mem0 does not accept the key, or answered with something else.") from error


def _listed(answer: Any) -> Iterator[Any]:
    results = answer.get("results") if isinstance(answer, dict) else answer
    return (each for each in (results if isinstance(results, list) else ()) if isinstance(each, dict))


def _memory(user: str, entry: Any, now: datetime) -> Memory:
    created_at = _time(entry.get("created_at")) or now
    return Memory(
        id=memory_number(created_at, str(entry["id"])),
        user=user,
        content=" ".join(str(entry.get("memory") or "").split()),
        created_at=created_at,
        source=MemorySource.VENDOR,
        valid_from=created_at,
        vendor_id=str(entry["id"]),
    )


def _time(text: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo else None
