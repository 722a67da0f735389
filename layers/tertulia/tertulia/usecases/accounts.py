"""Users and their tokens: made, listed, revoked."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from tertulia.domain.accounts import (
    MOST_TOKENS,
    TOKEN_PREFIX,
    ApiToken,
    Caller,
    Scope,
    checked_label,
    checked_user,
    digest_of,
    new_secret,
    new_token_id,
)
from tertulia.domain.errors import Conflict, Forbidden, InvalidValue, NotFound
from tertulia.ports import Clock
from tertulia.ports.accounts import TokenStore, UserStore


@dataclass(frozen=True, kw_only=True)
class NewToken:
    """A token just made: the only time that its secret is seen."""

    token: ApiToken
    secret: str


async def everyone(users: UserStore, owner: str | None) -> AsyncIterator[str]:
    """Yield every user, the owner first, where there is one, whom nobody has to add."""
    if owner is not None:
        yield owner
    async for user in users.users():
        if user != owner:
            yield user


class Accounts:
    """Makes users and tokens; the owner is the user whom the settings name, whom nobody has to add."""

    def __init__(self, users: UserStore, tokens: TokenStore, clock: Clock, owner: str) -> None:
        self._users = users
        self._tokens = tokens
        self._clock = clock
        self._owner = owner

    async def add_user(self, name: str) -> str:
        """Make a user and return their name as it is kept; Conflict when there is one already."""
        name = checked_user(name)
        if name == self._owner or not await self._users.add(name):
            raise Conflict(f"There is a user {name} already.")
        return name

    def everyone(self) -> AsyncIterator[str]:
        """Yield every user, the owner first."""
        return everyone(self._users, self._owner)

    async def known(self, name: str) -> str:
        """Return a user's name as it is kept, or raise NotFound."""
        if name != self._owner and not await self._users.knows(name := checked_user(name)):
            raise NotFound(f"There is no user {name}. Add them first: tertulia user add {name}")
        return name

    async def add_token(self, by: Caller, name: str, scopes: frozenset[Scope]) -> NewToken:
        """Make a token for a user, who cannot give it more than they may do themselves."""
        if not scopes:
            raise InvalidValue(f"A token needs a scope: {', '.join(Scope)}.")
        if not scopes <= by.scopes:
            raise Forbidden("A token can be given no scope that yours has not.")
        if len(await self._tokens.list(by.user)) >= MOST_TOKENS:
            raise Conflict(f"There are {MOST_TOKENS} tokens already. Revoke one that is not used.")
        secret = new_secret(TOKEN_PREFIX)
        token = ApiToken(
            id=new_token_id(),
            user=by.user,
            name=checked_label(name),
            scopes=scopes,
            digest=digest_of(secret),
            created_at=self._clock.now(),
        )
        await self._tokens.put(token)
        return NewToken(token=token, secret=secret)

    async def tokens(self, user: str) -> list[ApiToken]:
        """Return a user's tokens, newest first."""
        return await self._tokens.list(user)

    async def revoke(self, user: str, token_id: str) -> None:
        """Accept a token of the user's no more; the sessions made from it end with it."""
        await self._tokens.revoke(user, token_id)
