"""The daily run that deletes what is older than its user wants it kept, and uploads that nobody can use any more."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from tertulia.domain.errors import TertuliaError
from tertulia.ports import BlobStore, Clock
from tertulia.ports.accounts import UserStore
from tertulia.ports.retention import OldConversations, OldFiles
from tertulia.usecases.accounts import everyone
from tertulia.usecases.forget import Forget
from tertulia.usecases.uploads import UPLOADS, USABLE_FOR

USERS_AT_ONCE = 8

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What a run deleted, and for how many users it could not."""

    users: int = 0
    conversations: int = 0
    files: int = 0
    failed: int = 0

    def __add__(self, other: "Forgotten") -> "Forgotten":
        """Return both together."""
        return Forgotten(
            users=self.users + other.users,
            conversations=self.conversations + other.conversations,
            files=self.files + other.files,
            failed=self.failed + other.failed,
        )


@dataclass(frozen=True, kw_only=True)
class OldThings:
    """Where old things are found, and how they are deleted."""

    conversations: OldConversations
    files: OldFiles
    uploads: OldFiles | None
    """None where the store deletes them by itself."""
    blobs: BlobStore
    forget: Forget


@dataclass(frozen=True, kw_only=True)
class ForgetOld:
    """Deletes page by page, the oldest first: a run that was cut off is gone on with by the next one."""

    users: UserStore
    old: OldThings
    clock: Clock
    days: int | None = None
    """How long things are kept where the user has not said."""
    user_without_account: str | None = None
    """The one user of a machine, who need not be added."""

    async def __call__(self) -> Forgotten:
        """Go through all users; what fails for one of them is reported and does not stop the others."""
        total, waiting = Forgotten(), list[str]()
        async for user in everyone(self.users, self.user_without_account):
            waiting.append(user)
            if len(waiting) == USERS_AT_ONCE:
                total, waiting = total + await self._for_some(waiting), []
        return total + await self._for_some(waiting)

    async def _for_some(self, users: list[str]) -> Forgotten:
        outcomes = await asyncio.gather(*(self._for_user(user) for user in users), return_exceptions=True)
        total = Forgotten()
        for outcome in outcomes:
            match outcome:
                case Forgotten():
                    total += outcome
                case TertuliaError():
                    total += _failure(outcome.code)
                case Exception():
                    # A defect, as with a document that cannot be read: the others must not pay for it.
                    logger.error("old things of a user could not be deleted", exc_info=outcome)
                    total += _failure(TertuliaError.code)
                case _:
                    raise outcome
        return total

    async def _for_user(self, user: str) -> Forgotten:
        now = self.clock.now()
        done = Forgotten(users=1)
        if self.old.uploads is not None:
            done += Forgotten(
                files=await self._remove(user, await self.old.uploads.older(user, now - USABLE_FOR, UPLOADS))
            )
        days = (await self.users.settings(user)).retention_days or self.days
        if days is None:
            return done
        before = now - timedelta(days=days)
        conversations = await self._conversations(user, before)
        files = await self._remove(user, await self.old.files.older(user, before))
        return done + Forgotten(conversations=conversations, files=files)

    async def _conversations(self, user: str, before: datetime) -> int:
        count = 0
        while page := await self.old.conversations.older(user, before):
            for conversation in page:
                await self.old.forget(conversation)
            count += len(page)
        return count

    async def _remove(self, user: str, keys: list[str]) -> int:
        for key in keys:
            await self.old.blobs.remove(user, key)
        return len(keys)


def _failure(code: str) -> Forgotten:
    logger.error("old things of a user could not be deleted: %s", code)
    return Forgotten(users=1, failed=1)
