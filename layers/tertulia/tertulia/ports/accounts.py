"""Users and their tokens."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol

from tertulia.domain.accounts import ApiToken, PageSession, UserSettings
from tertulia.domain.language_models import LlmChoice


class TokenStore(Protocol):
    """Personal tokens, found by the digest of what a client sends."""

    async def put(self, token: ApiToken) -> None:
        """Keep a new token."""
        ...

    async def find(self, digest: str) -> ApiToken | None:
        """Return the token with the digest, as it is now: a revoked one is found no more."""
        ...

    async def list(self, user: str) -> list[ApiToken]:
        """Return the user's tokens, newest first."""
        ...

    async def used(self, token: ApiToken, at: datetime) -> None:
        """Note when a token was used; one revoked meanwhile stays so."""
        ...

    async def revoke(self, user: str, token_id: str) -> None:
        """Accept a token no more; NotFound for an unknown one or another user's."""
        ...


class SessionStore(Protocol):
    """Sessions of pages, found by the digest of their cookie."""

    async def put(self, session: PageSession) -> None:
        """Keep a new session."""
        ...

    async def find(self, digest: str) -> PageSession | None:
        """Return the session with the digest, unless it has ended."""
        ...

    async def end(self, digest: str) -> None:
        """End a session; ending one that is not there is fine."""
        ...


class UserStore(Protocol):
    """Users and their settings."""

    async def add(self, user: str) -> bool:
        """Make a user known; return whether they were not before."""
        ...

    async def knows(self, user: str) -> bool:
        """Whether a user was added."""
        ...

    def users(self) -> AsyncIterator[str]:
        """Yield every user that was added, page by page."""
        ...

    async def settings(self, user: str) -> UserSettings:
        """Return a user's settings, the defaults where none were saved."""
        ...

    async def save_settings(self, user: str, settings: UserSettings) -> None:
        """Replace a user's settings."""
        ...

    async def remove(self, user: str) -> None:
        """Forget a user and their settings."""
        ...


class LlmChoiceStore(Protocol):
    """The language models that users chose, with their keys."""

    async def find(self, user: str) -> LlmChoice | None:
        """Return what a user chose."""
        ...

    async def put(self, user: str, choice: LlmChoice) -> None:
        """Replace a user's choice."""
        ...

    async def remove(self, user: str) -> None:
        """Forget a user's choice."""
        ...


class IdentityProvider(Protocol):
    """Somebody else who vouches for users, by signed tokens."""

    async def user_of(self, token: str) -> str:
        """Return whom a token was given to, or raise Unauthorized."""
        ...
