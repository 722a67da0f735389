"""One connection to Groq for all that speak with it: the key, the address, one pool, one way to fail."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tertulia.adapters.groq.errors import groq_failures
from tertulia.adapters.model_failures import ModelChoice
from tertulia.adapters.retrying import Retries
from tertulia.ports import Clock

if TYPE_CHECKING:
    from groq import AsyncGroq

GROQ = "https://api.groq.com"
_OPENAI_PATH = "/openai/v1"
_CONNECT_SECONDS = 5.0


class GroqConnection:
    """Speaks with Groq; opens nothing before the first call."""

    def __init__(self, api_key: SecretStr, clock: Clock, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._clock = clock
        # The SDK adds the path itself; people copy the address with it.
        self._base_url = (base_url or GROQ).rstrip("/").removesuffix(_OPENAI_PATH)
        self._building = threading.Lock()
        self._sdk: AsyncGroq | None = None
        self.retries = Retries(clock)

    @property
    def sdk(self) -> "AsyncGroq":
        """Groq's own client, which never retries: that is our policy."""
        # All parts are made ready at once, each in a thread of its own, and share this client.
        with self._building:
            self._sdk = self._sdk or self._built()
        return self._sdk

    def _built(self) -> "AsyncGroq":
        import httpx
        from groq import AsyncGroq

        return AsyncGroq(
            api_key=self._api_key.get_secret_value(),
            base_url=self._base_url,
            max_retries=0,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        )

    async def prepare(self) -> None:
        """Pay for the import before the first turn does."""
        await asyncio.to_thread(lambda: self.sdk)

    def guard(self, model: ModelChoice) -> AbstractContextManager[None]:
        """Turn Groq's exceptions into ours."""
        return groq_failures(model, self._clock)

    async def call[T](self, model: ModelChoice, request: "Callable[[AsyncGroq], Awaitable[T]]", seconds: float) -> T:
        """Ask once, and again where that helps, in so many seconds."""

        async def attempt(left: float) -> T:
            with self.guard(model):
                async with asyncio.timeout(left):
                    return await request(self.sdk)

        return await self.retries.run(attempt, seconds)

    async def close(self) -> None:
        """Close the pool, if one was ever opened."""
        if self._sdk is not None:
            await self._sdk.close()
