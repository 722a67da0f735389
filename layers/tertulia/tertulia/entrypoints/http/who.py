"""Who asks: a bearer token, or the cookie that a page got for one."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from tertulia.domain.errors import OriginRefused, Unauthorized

COOKIE = "tertulia_session"
SESSION_DAYS = 30
_READING = frozenset({"GET", "HEAD", "OPTIONS"})

_bearer = HTTPBearer(auto_error=False, description="The token that the server was started with.")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="What POST /api/session makes from a token.")


class Tokens:
    """The tokens that are accepted, and the sessions made from them.

    A session is signed with its token, so it outlives a restart, ends when the token changes, and tells nothing of it.
    """

    def __init__(self, users: Mapping[str, str], visitor: str | None = None) -> None:
        self._users = {_digest(token): (token, user) for token, user in users.items()}
        self.visitor = visitor
        """Whom a request without a token is served as, where that is allowed."""
        self._ended: set[str] = set()

    def user_of(self, token: str) -> str:
        """Return a token's user, or raise Unauthorized; the time taken tells nothing of the tokens."""
        digest = _digest(token)
        found = [user for known, (_, user) in self._users.items() if hmac.compare_digest(known, digest)]
        if not found:
            raise Unauthorized
        return found[0]

    def session_for(self, token: str, now: datetime) -> tuple[str, datetime]:
        """Return a new session for a token and when it ends, or raise Unauthorized."""
        self.user_of(token)
        ends_at = now + timedelta(days=SESSION_DAYS)
        claims = f"{_digest(token)[:16]}.{int(ends_at.timestamp())}.{secrets.token_hex(8)}"
        return f"{claims}.{_signature(token, claims)}", ends_at

    def user_of_session(self, session: str, now: datetime) -> str:
        """Return a session's user, or raise Unauthorized."""
        claims, _, signature = session.rpartition(".")
        for digest, (token, user) in self._users.items():
            if hmac.compare_digest(_signature(token, claims).encode(), signature.encode(errors="replace")):
                known, ends_at, _ = claims.split(".")
                if digest.startswith(known) and int(ends_at) > now.timestamp() and session not in self._ended:
                    return user
        raise Unauthorized

    def end(self, session: str) -> None:
        """Accept a session no more."""
        self._ended.add(session)


async def _caller(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    session: Annotated[str | None, Security(_cookie)],
) -> str:
    tokens: Tokens = request.app.state.tokens
    if tokens.visitor is not None:
        return tokens.visitor
    if bearer is not None:
        return tokens.user_of(bearer.credentials)
    if not session:
        raise Unauthorized
    if request.method not in _READING and not _is_from_a_page_of_ours(request):
        raise OriginRefused
    return tokens.user_of_session(session, request.app.state.assistant.clock.now())


def _is_from_a_page_of_ours(request: Request) -> bool:
    # A foreign Origin never comes this far; here none at all is refused too, since a cookie is sent unasked.
    return "origin" in request.headers or request.headers.get("sec-fetch-site") == "same-origin"


User = Annotated[str, Depends(_caller)]
"""The user whom a request comes from."""


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _signature(token: str, claims: str) -> str:
    return hmac.new(token.encode(), claims.encode(errors="replace"), hashlib.sha256).hexdigest()
