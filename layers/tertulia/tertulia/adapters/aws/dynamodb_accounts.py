"""Users, their settings, their tokens and their pages' sessions in DynamoDB."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from tertulia.adapters.account_documents import scopes_of, scopes_text, settings_document, settings_of
from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.domain.accounts import ApiToken, PageSession, UserSettings
from tertulia.domain.errors import NotFound
from tertulia.ports import Clock

_IS_NEW = "attribute_not_exists(#pk)"
_IS_THERE = "attribute_exists(#pk)"


class DynamoTokens:
    """Personal tokens: one item found by its digest decides, another lists it for its user."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    async def put(self, token: ApiToken) -> None:
        """Keep a new token."""
        # Listed first: if the process ends in between, nothing is valid that its user cannot see.
        await self._table.put({**_listed_key(token.user, token.id)._asdict(), "digest": token.digest}, _IS_NEW)
        item = {
            **_token_key(token.digest)._asdict(),
            "id": token.id,
            "user": token.user,
            "name": token.name,
            "scopes": scopes_text(token.scopes),
            "digest": token.digest,
            "created_at": sortable(token.created_at),
        }
        await self._table.put(item, _IS_NEW)

    async def find(self, digest: str) -> ApiToken | None:
        """Return the token with the digest."""
        item = await self._table.get(_token_key(digest))
        return _token(item) if item else None

    async def list(self, user: str) -> list[ApiToken]:
        """Return the user's tokens, newest first."""
        query = Query(pk=f"USER#{user}", condition="begins_with(#sk, :tokens)", values={":tokens": "TOKEN#"})
        listed = await self._table.query(query)
        found = await asyncio.gather(*(self.find(item["digest"]) for item in listed))
        return sorted((token for token in found if token), key=lambda token: (token.created_at, token.id), reverse=True)

    async def used(self, token: ApiToken, at: datetime) -> None:
        """Note when a token was used; one revoked meanwhile stays so."""
        try:
            await self._table.change(
                _token_key(token.digest), "SET #last_used_at = :at", _IS_THERE, {":at": sortable(at)}
            )
        except ConditionFailed:
            return

    async def revoke(self, user: str, token_id: str) -> None:
        """Accept a token no more."""
        listed = await self._table.get(_listed_key(user, token_id))
        if listed is None:
            raise NotFound
        await self._table.delete(_token_key(listed["digest"]))
        await self._table.delete(_listed_key(user, token_id))


class DynamoSessions:
    """Sessions of pages by the digest of their cookie."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def put(self, session: PageSession) -> None:
        """Keep a new session."""
        item = {
            **_session_key(session.digest)._asdict(),
            "token_digest": session.token_digest,
            "expires_at": int(session.expires_at.timestamp()),
        }
        await self._table.put(item, _IS_NEW)

    async def find(self, digest: str) -> PageSession | None:
        """Return the session with the digest, unless it has ended."""
        item = await self._table.get(_session_key(digest))
        # DynamoDB removes expired items hours late, so their time is compared here.
        if item is None or item["expires_at"] <= self._clock.now().timestamp():
            return None
        expires_at = datetime.fromtimestamp(item["expires_at"], UTC)
        return PageSession(digest=digest, token_digest=item["token_digest"], expires_at=expires_at)

    async def end(self, digest: str) -> None:
        """End a session."""
        await self._table.delete(_session_key(digest))


class DynamoUsers:
    """Users, listed in one partition, and the settings of each beside their conversations."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def add(self, user: str) -> bool:
        """Make a user known; return whether they were not before."""
        try:
            await self._table.put(
                {**_user_key(user)._asdict(), "user": user, "created_at": sortable(self._clock.now())}, _IS_NEW
            )
        except ConditionFailed:
            return False
        return True

    async def knows(self, user: str) -> bool:
        """Whether a user was added."""
        return await self._table.get(_user_key(user)) is not None

    async def users(self) -> AsyncIterator[str]:
        """Yield every user that was added, page by page."""
        query = Query(pk="USERS", condition="begins_with(#sk, :users)", values={":users": "USER#"})
        async for item in self._table.each(query):
            yield item["user"]

    async def settings(self, user: str) -> UserSettings:
        """Return a user's settings, the defaults where none were saved."""
        item = await self._table.get(_settings_key(user))
        return settings_of(item["document"]) if item else UserSettings()

    async def save_settings(self, user: str, settings: UserSettings) -> None:
        """Replace a user's settings."""
        await self._table.put({**_settings_key(user)._asdict(), "document": settings_document(settings)})

    async def remove(self, user: str) -> None:
        """Forget a user and their settings."""
        await self._table.delete(Key(f"USER#{user}", "LANGUAGE_MODEL"))
        await self._table.delete(_settings_key(user))
        await self._table.delete(_user_key(user))


def _token_key(digest: str) -> Key:
    return Key(f"TOKEN#{digest}", "TOKEN")


def _listed_key(user: str, token_id: str) -> Key:
    return Key(f"USER#{user}", f"TOKEN#{token_id}")


def _session_key(digest: str) -> Key:
    return Key(f"SESSION#{digest}", "SESSION")


def _user_key(user: str) -> Key:
    return Key("USERS", f"USER#{user}")


def _settings_key(user: str) -> Key:
    return Key(f"USER#{user}", "SETTINGS")


def _token(item: Item) -> ApiToken:
    return ApiToken(
        id=item["id"],
        user=item["user"],
        name=item["name"],
        scopes=scopes_of(item["scopes"]),
        digest=item["digest"],
        created_at=datetime.fromisoformat(item["created_at"]),
        last_used_at=datetime.fromisoformat(item["last_used_at"]) if "last_used_at" in item else None,
    )
