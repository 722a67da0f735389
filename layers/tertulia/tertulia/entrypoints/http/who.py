"""Who asks: told by a bearer token, by the cookie that a page got for one, or by the gateway before us in the cloud."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import Scope as RequestScope

from tertulia.domain.accounts import TOKEN_PREFIX, Caller, Scope
from tertulia.domain.errors import Forbidden, OriginRefused, Unauthorized
from tertulia.entrypoints.credentials import BY_SESSION, COOKIE
from tertulia.entrypoints.http.scopes import READING, scopes_for
from tertulia.usecases.callers import Callers

_bearer = HTTPBearer(
    auto_error=False,
    description="A token of one's own: `tertulia token add`, or `POST /api/me/tokens`. In the cloud also a token that"
    " the user pool signed. The scopes in square brackets are those any of which a route needs.",
)
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="What POST /api/session makes from a token.")


@dataclass(kw_only=True)
class Door:
    """How this server tells who comes in."""

    make_callers: Callable[[], Callers]
    visitor: str | None = None
    """Whom a request that shows nothing is served as, where that is allowed."""
    is_guarded: bool = False
    """Whether a gateway before us has told who asks; then nothing else counts."""

    @cached_property
    def callers(self) -> Callers:
        """What knows tokens and sessions, built when the first is shown: most functions of the cloud never see one."""
        return self.make_callers()

    async def by_token(self, token: str) -> Caller:
        """Return whose token it is; what is none of ours counts as nothing where nothing is needed."""
        if self.visitor is not None and not token.startswith(TOKEN_PREFIX):
            return Caller(user=self.visitor)
        return await self.callers.of_token(token)

    async def let_in(self, request: Request, bearer: str | None, session: str | None) -> Caller:
        """Return who asks, or raise Unauthorized."""
        if self.is_guarded:
            return _guarded(request)
        if bearer is not None:
            return await self.by_token(bearer)
        if session:
            _must_come_from_a_page_of_ours(request)
            return await self.callers.of_session(session)
        if self.visitor is None:
            raise Unauthorized
        return Caller(user=self.visitor)


def door_of(request: Request) -> Door:
    """Return how an application tells who comes in."""
    door: Door = request.app.state.door
    return door


async def _caller(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    session: Annotated[str | None, Security(_cookie)],
) -> Caller:
    caller = await door_of(request).let_in(request, bearer.credentials if bearer else None, session)
    needed = scopes_for(request.method, request.scope["route"].path)
    if not caller.may(*needed):
        raise Forbidden(f"This token does not allow that: it needs the scope {' or '.join(sorted(needed))}.")
    return caller


async def _user(caller: Annotated[Caller, Depends(_caller)]) -> str:
    return caller.user


Who = Annotated[Caller, Depends(_caller)]
"""Who asks, with their scopes."""
User = Annotated[str, Depends(_user)]
"""The user whom a request comes from."""


def told_by_gateway(scope: RequestScope) -> Mapping[str, Any]:
    """Return what the gateway before us says of who asks."""
    context = scope.get("aws.event", {}).get("requestContext", {}).get("authorizer") or {}
    # An HTTP API puts what the authorizer said one level deeper than a REST API.
    told: Mapping[str, Any] = context.get("lambda") or context
    return told


def _guarded(request: Request) -> Caller:
    told = told_by_gateway(request.scope)
    user = told.get("user")
    if not isinstance(user, str) or not user:
        raise Unauthorized
    if told.get("by") == BY_SESSION:
        _must_come_from_a_page_of_ours(request)
    words = str(told.get("scopes", "")).split()
    return Caller(user=user, scopes=frozenset(Scope(word) for word in words if word in Scope))


def _must_come_from_a_page_of_ours(request: Request) -> None:
    # A foreign Origin never comes this far; here none at all is refused too, since a cookie is sent unasked.
    is_ours = "origin" in request.headers or request.headers.get("sec-fetch-site") == "same-origin"
    if request.method not in READING and not is_ours:
        raise OriginRefused
