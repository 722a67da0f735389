"""Users: who asks, by which token, and what they wish for."""

import hashlib
import re
import secrets
import unicodedata
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum

from tertulia.domain.errors import InvalidValue
from tertulia.domain.surfaces import Style

TOKEN_PREFIX = "tertulia_"  # noqa: S105  # what each token of ours begins with, so that leaked ones can be searched for
SESSION_LENGTH = timedelta(days=30)
MOST_TOKENS = 50
"""How many tokens a user may have at once."""

RETENTION_DAYS = (7, 14, 30, 90, 365)

_SECRET_BYTES = 32
_USER = re.compile(r"\w[\w.@+-]{0,63}")


class Scope(StrEnum):
    """What a token allows; none includes another."""

    READ = "read"
    """Look at what the user has."""
    TURNS = "turns"
    """Ask, and change what belongs to the talk: conversations, uploads, tools."""
    FLOWS_WRITE = "flows.write"
    """Change the flows of Node-RED."""
    ADMIN = "admin"
    """Make and revoke tokens, and change the user's settings."""


EVERYTHING = frozenset(Scope)
USUAL = frozenset({Scope.READ, Scope.TURNS})
"""What a token allows where nobody says."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks, and what they may do."""

    user: str
    scopes: frozenset[Scope] = EVERYTHING

    def may(self, *scopes: Scope) -> bool:
        """Whether any of the scopes is theirs."""
        return not self.scopes.isdisjoint(scopes)


@dataclass(frozen=True, kw_only=True)
class ApiToken:
    """What is kept of a personal token: never the token itself."""

    id: str
    user: str
    name: str
    scopes: frozenset[Scope]
    digest: str
    created_at: datetime
    last_used_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class PageSession:
    """What is kept of a page's session: it lives as long as the token it was made from, at most 30 days."""

    digest: str
    token_digest: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class UserSettings:
    """What a user wishes for where a request names nothing."""

    language: str | None = None
    timezone: str | None = None
    voice: str | None = None
    style: Style | None = None
    retention_days: int | None = None
    """After how many days what is kept is deleted; unset, never."""
    daily_spend_microdollars: int | None = None
    """What a day may cost, where that is less than the deployment allows."""
    keeps_audio: bool = False
    """Whether recordings of turns are kept."""
    has_own_model: bool = False
    """Whether their turns ask a language model of their own choice."""

    @classmethod
    def names(cls) -> frozenset[str]:
        """Return the names of the settings."""
        return frozenset(field.name for field in fields(cls))


def new_secret(prefix: str = "") -> str:
    """Make a secret that nobody guesses."""
    return prefix + secrets.token_urlsafe(_SECRET_BYTES)


def new_token_id() -> str:
    """Make the id of a token."""
    return secrets.token_hex(8)


def digest_of(secret: str) -> str:
    """Digest a secret, to keep and to look it up; secrets of 32 random bytes need no slow hash."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def checked_user(name: str) -> str:
    """Return a new user's name, or say what is wrong with it."""
    name = unicodedata.normalize("NFC", name)
    if not _USER.fullmatch(name):
        raise InvalidValue("A user's name is 1 to 64 letters, digits and . _ @ + -, and begins with a letter or digit.")
    return name


def checked_label(name: str) -> str:
    """Return a token's name, or say what is wrong with it."""
    name = " ".join(name.split())
    if not name or len(name) > 64 or not name.isprintable():  # noqa: PLR2004
        raise InvalidValue("A token's name is 1 to 64 printable characters: say where it is used.")
    return name
