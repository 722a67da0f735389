"""One connection to a server of models for whoever asks it over plain HTTP: the key, the pool, one way to fail."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tertulia.adapters.chat_protocol import Patience
from tertulia.adapters.model_failures import ModelChoice, explain, kind_of, made, retry_after
from tertulia.adapters.retrying import Retries
from tertulia.domain.errors import ModelUnreachable, ProviderFailed, ProviderTimeout, TertuliaError
from tertulia.domain.prompts import Json
from tertulia.ports import Clock

if TYPE_CHECKING:
    import httpx

_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    """Where models answer; `secrets` are headers, and `only_public` refuses addresses inside a network."""

    url: str
    secrets: Mapping[str, SecretStr] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    only_public: bool = False


class _Refused(Exception):
    """The server's own failure, as it tells it."""

    def __init__(self, answer: Json, status: int = 0, wait: str | None = None) -> None:
        super().__init__(status)
        # Only models have a place of their own there: what is not found is the model.
        missing = ("not_found_error",) if status == HTTPStatus.NOT_FOUND else ()
        self.codes, self.status, self.wait = (*_codes(answer), *missing), status, wait


class ModelServer:
    """Posts questions and reads events; opens nothing before the first call."""

    def __init__(self, address: ServerAddress, clock: Clock) -> None:
        self._address = address
        self._clock = clock
        self._building = threading.Lock()
        self._client: httpx.AsyncClient | None = None
        self.retries = Retries(clock)

    @property
    def client(self) -> "httpx.AsyncClient":
        """The pool, which never retries or follows: that is our policy."""
        with self._building:
            self._client = self._client or self._built()
        return self._client

    async def prepare(self) -> None:
        """Pay for the import before the first call does; nothing is opened."""
        await asyncio.to_thread(lambda: self.client)

    async def events(self, path: str, body: Json, patience: Patience) -> AsyncGenerator[Json]:
        """Post and yield the JSON of each event until the stream ends."""
        from httpx_sse import aconnect_sse

        async with AsyncExitStack() as opened:
            connected = aconnect_sse(self.client, "POST", path, json=body)
            source = await patience.wait_for(opened.enter_async_context(connected))
            if source.response.is_error:
                text = await patience.wait_for(source.response.aread())
                raise _Refused(_parsed(text), source.response.status_code, source.response.headers.get("retry-after"))
            events = await opened.enter_async_context(aclosing(source.aiter_sse()))
            while (event := await patience.wait_for(anext(events, None))) is not None:
                if event.data == "[DONE]":
                    return
                answer = json.loads(event.data) if event.data else {}
                if not isinstance(answer, dict) or "error" in answer:
                    raise _Refused(answer)
                yield answer

    @contextmanager
    def guard(self, model: ModelChoice) -> Iterator[None]:
        """Raise what the server and the connection raise as errors of ours."""
        import httpx
        from httpx_sse import SSEError

        try:
            yield
        except TimeoutError as error:
            raise made(ProviderTimeout) from error
        except (_Refused, httpx.HTTPError, httpx.InvalidURL, SSEError, ValueError, KeyError, TypeError) as error:
            # The last ones are an answer of another shape.
            failure = self._translated(error)
            explain(failure, model)
            raise failure from error

    def _translated(self, error: Exception) -> TertuliaError:
        import httpx
        from httpx_sse import SSEError

        if isinstance(error, _Refused):
            return made(kind_of(error.codes, error.status), retry_after(error.wait, self._clock.now()))
        if isinstance(error, httpx.TransportError) and not isinstance(error, SSEError):
            return made(ModelUnreachable)
        return made(ProviderFailed)

    async def close(self) -> None:
        """Close the pool, if one was ever opened."""
        if self._client is not None:
            await self._client.aclose()

    def _built(self) -> "httpx.AsyncClient":
        import httpx

        from tertulia.adapters.public_addresses import OnlyPublic

        headers = {name: secret.get_secret_value() for name, secret in self._address.secrets.items()}
        return httpx.AsyncClient(
            base_url=self._address.url,
            headers={**self._address.headers, **headers},
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            transport=OnlyPublic(httpx.AsyncHTTPTransport()) if self._address.only_public else None,
        )


def _parsed(text: bytes) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _codes(answer: Json) -> Iterator[str]:
    """Yield the words that tell the kind of a failure: vendors put them into different fields."""
    if isinstance(answer, list):  # Google wraps its failure into a list
        answer = answer[0] if answer else None
    error = answer.get("error", answer) if isinstance(answer, dict) else None
    if isinstance(error, dict):
        details = error.get("details")
        reasons = (
            [detail.get("reason") for detail in details if isinstance(detail, dict)]
            if isinstance(details, list)
            else []
        )
        yield from (str(code) for code in (*reasons, error.get("code"), error.get("type")) if code)
