"""Who asks: told from a token, from a page's session, or from what an identity provider signed."""

import hmac
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tertulia.domain.accounts import SESSION_LENGTH, Caller, PageSession, digest_of, new_secret
from tertulia.domain.errors import SessionOver, TertuliaError, Unauthorized
from tertulia.ports import Clock
from tertulia.ports.accounts import IdentityProvider, SessionStore, TokenStore, UserStore

NOTED_AGAIN_AFTER = timedelta(hours=1)
"""How often the last use of a token is written down: each time would make every reading a write."""

_DOTS_OF_A_SIGNED_TOKEN = 2


@dataclass(frozen=True, kw_only=True)
class Callers:
    """Tells who asks. No token is remembered between two questions, so a revoked token is refused at once."""

    tokens: TokenStore
    sessions: SessionStore
    users: UserStore
    clock: Clock
    configured: Mapping[str, str] = field(default_factory=dict)
    """Tokens that the settings name, with their users, who may do everything."""
    provider: IdentityProvider | None = None
    _noted: set[str] = field(default_factory=set, init=False, repr=False)

    async def of_token(self, token: str) -> Caller:
        """Return whose token it is, or raise Unauthorized; the time taken tells nothing of the tokens there are."""
        if self.provider is not None and token.count(".") == _DOTS_OF_A_SIGNED_TOKEN:
            return await self._newcomer(await self.provider.user_of(token))
        return await self._of_digest(digest_of(token))

    async def of_session(self, session: str) -> Caller:
        """Return whose session it is, or raise SessionOver: it has ended, or the token it was made from is revoked."""
        kept = await self.sessions.find(digest_of(session))
        if kept is None:
            raise SessionOver
        try:
            return await self._of_digest(kept.token_digest)
        except Unauthorized as error:
            raise SessionOver from error

    async def begin_session(self, token: str) -> tuple[Caller, str, datetime]:
        """Return whose token it is, a new session for it, and when that ends, or raise Unauthorized."""
        caller = await self._of_digest(digest_of(token))
        session, ends_at = new_secret(), self.clock.now() + SESSION_LENGTH
        await self.sessions.put(
            PageSession(digest=digest_of(session), token_digest=digest_of(token), expires_at=ends_at)
        )
        return caller, session, ends_at

    async def end_session(self, session: str) -> None:
        """Accept a session no more."""
        await self.sessions.end(digest_of(session))

    async def _newcomer(self, user: str) -> Caller:
        """Note a user whom nobody added here, so that what is done for every user is done for them."""
        if user not in self._noted:
            with suppress(TertuliaError):
                await self.users.add(user)
                self._noted.add(user)
        return Caller(user=user)

    async def _of_digest(self, digest: str) -> Caller:
        for token, user in self.configured.items():
            if hmac.compare_digest(digest_of(token), digest):
                return Caller(user=user)
        # Found by its digest: whoever measures how long that takes learns of digests, and of no token.
        kept = await self.tokens.find(digest)
        if kept is None:
            raise Unauthorized
        now = self.clock.now()
        if kept.last_used_at is None or now - kept.last_used_at >= NOTED_AGAIN_AFTER:
            # Who may ask is not kept waiting or out because that could not be written.
            with suppress(TertuliaError):
                await self.tokens.used(kept, now)
        return Caller(user=kept.user, scopes=kept.scopes)
