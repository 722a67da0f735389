"""Users, their settings, their tokens and their pages' sessions in SQLite."""

from collections.abc import AsyncIterator
from datetime import datetime
from sqlite3 import Row

from tertulia.adapters.account_documents import scopes_of, scopes_text, settings_document, settings_of
from tertulia.adapters.cursors import sortable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.domain.accounts import ApiToken, PageSession, UserSettings
from tertulia.domain.errors import NotFound
from tertulia.ports import Clock

_USERS_AT_ONCE = 500


class SqliteTokens:
    """Personal tokens by their digest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, token: ApiToken) -> None:
        """Keep a new token."""
        async with self._database.writing() as connection:
            await connection.execute(
                "INSERT INTO api_tokens (digest, user, id, name, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    token.digest,
                    token.user,
                    token.id,
                    token.name,
                    scopes_text(token.scopes),
                    sortable(token.created_at),
                ),
            )

    async def find(self, digest: str) -> ApiToken | None:
        """Return the token with the digest."""
        row = await self._database.row("SELECT * FROM api_tokens WHERE digest = ?", (digest,))
        return _token(row) if row else None

    async def list(self, user: str) -> list[ApiToken]:
        """Return the user's tokens, newest first."""
        rows = await self._database.rows(
            "SELECT * FROM api_tokens WHERE user = ? ORDER BY created_at DESC, id DESC", (user,)
        )
        return [_token(row) for row in rows]

    async def used(self, token: ApiToken, at: datetime) -> None:
        """Note when a token was used."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute(
                "UPDATE api_tokens SET last_used_at = ? WHERE digest = ?", (sortable(at), token.digest)
            )

    async def revoke(self, user: str, token_id: str) -> None:
        """Accept a token no more."""
        async with self._database.writing() as connection:
            done = await connection.execute("DELETE FROM api_tokens WHERE user = ? AND id = ?", (user, token_id))
            if not done.rowcount:
                raise NotFound


class SqliteSessions:
    """Sessions of pages by the digest of their cookie."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def put(self, session: PageSession) -> None:
        """Keep a new session, and forget those that have ended."""
        async with self._database.writing() as connection:
            await connection.execute("DELETE FROM page_sessions WHERE expires_at <= ?", (sortable(self._clock.now()),))
            await connection.execute(
                "INSERT INTO page_sessions (digest, token_digest, expires_at) VALUES (?, ?, ?)",
                (session.digest, session.token_digest, sortable(session.expires_at)),
            )

    async def find(self, digest: str) -> PageSession | None:
        """Return the session with the digest, unless it has ended."""
        row = await self._database.row(
            "SELECT * FROM page_sessions WHERE digest = ? AND expires_at > ?", (digest, sortable(self._clock.now()))
        )
        return PageSession(**{**dict(row), "expires_at": datetime.fromisoformat(row["expires_at"])}) if row else None

    async def end(self, digest: str) -> None:
        """End a session."""
        async with self._database.writing() as connection:
            await connection.execute("DELETE FROM page_sessions WHERE digest = ?", (digest,))


class SqliteUsers:
    """Users and their settings."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, user: str) -> bool:
        """Make a user known; return whether they were not before."""
        async with self._database.writing() as connection:
            done = await connection.execute(
                "INSERT INTO users (user, created_at) VALUES (?, ?) ON CONFLICT (user) DO NOTHING",
                (user, sortable(self._clock.now())),
            )
            return done.rowcount > 0

    async def knows(self, user: str) -> bool:
        """Whether a user was added."""
        return await self._database.row("SELECT user FROM users WHERE user = ?", (user,)) is not None

    async def users(self) -> AsyncIterator[str]:
        """Yield every user that was added, page by page."""
        last = ""
        while True:
            rows = await self._database.rows(
                "SELECT user FROM users WHERE user > ? ORDER BY user LIMIT ?", (last, _USERS_AT_ONCE)
            )
            for row in rows:
                yield row["user"]
            if len(rows) < _USERS_AT_ONCE:
                return
            last = rows[-1]["user"]

    async def settings(self, user: str) -> UserSettings:
        """Return a user's settings, the defaults where none were saved."""
        row = await self._database.row("SELECT document FROM user_settings WHERE user = ?", (user,))
        return settings_of(row["document"]) if row else UserSettings()

    async def save_settings(self, user: str, settings: UserSettings) -> None:
        """Replace a user's settings."""
        async with self._database.writing() as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO user_settings (user, document) VALUES (?, ?)",
                (user, settings_document(settings)),
            )

    async def remove(self, user: str) -> None:
        """Forget a user and their settings."""
        async with self._database.writing() as connection:
            await connection.execute("DELETE FROM user_settings WHERE user = ?", (user,))
            await connection.execute("DELETE FROM llm_choices WHERE user = ?", (user,))
            await connection.execute("DELETE FROM users WHERE user = ?", (user,))


def _token(row: Row) -> ApiToken:
    return ApiToken(
        id=row["id"],
        user=row["user"],
        name=row["name"],
        scopes=scopes_of(row["scopes"]),
        digest=row["digest"],
        created_at=datetime.fromisoformat(row["created_at"]),
        last_used_at=datetime.fromisoformat(row["last_used_at"]) if row["last_used_at"] else None,
    )
