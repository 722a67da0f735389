"""What every request passes before anything reads it: its id, the cloud's stage prefix, who may send it from where."""

import ipaddress
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from ulid import ULID

from tertulia.domain.errors import OriginRefused
from tertulia.entrypoints.http.errors import REQUEST_ID, problem


class RequestIds:
    """Gives each request an id, which its answer, its failure and our log carry: that of the gateway before us, or one of ours."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request_id = scope.setdefault(REQUEST_ID, str(ULID()).lower())

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        return await self._app(scope, receive, sending)


class StagePrefix:
    """Takes off the path what an API Gateway has put before it: a stage, or the base path of a domain of one's own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if event := scope.get("aws.event"):
            scope = {**scope, "path": _own_path(scope["path"], event)}
        await self._app(scope, receive, send)


def _own_path(path: str, event: Mapping[str, Any]) -> str:
    # A REST API tells the route as the template writes it; of an HTTP API only the stage is known.
    route = str(event.get("resource") or "").partition("{")[0]
    if len(route) > 1 and path.find(route) > 0:
        return path[path.find(route) :]
    stage = f"/{event.get('requestContext', {}).get('stage', '')}"
    return path.removeprefix(stage) if stage != "/" and path.startswith(stage + "/") else path


class Origins:
    """Refuses web pages that are not ours and host names that are not this machine's, before the body is read.

    Listening on loopback alone keeps no web page out: any page may send requests there, or rebind its own name to it.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None, origins: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = frozenset(origin.lower() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and not self._is_welcome(Headers(scope=scope)):
            await problem(scope, OriginRefused())(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_welcome(self, headers: Headers) -> bool:
        host = headers.get("host", "").lower()
        if self._hosts is not None and not self._is_our_host(host, self._hosts):
            return False
        origin = headers.get("origin", "").lower()
        return not origin or origin in self._origins or origin in {f"http://{host}", f"https://{host}"}

    @staticmethod
    def _is_our_host(host: str, hosts: Collection[str]) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return host in hosts or name in hosts or is_loopback(name)


def is_loopback(name: str) -> bool:
    """Whether a host name is this machine's own."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
