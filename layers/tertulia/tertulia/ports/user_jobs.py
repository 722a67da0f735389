"""Where the jobs of users are kept, and what each store of a user offers them."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from tertulia.domain.prompts import Json
from tertulia.domain.user_jobs import UserJob


class UserJobs(Protocol):
    """The jobs that users asked for."""

    async def put(self, job: UserJob) -> None:
        """Keep a job, as it is now."""
        ...

    async def get(self, user: str, job_id: str) -> UserJob:
        """Return a job of the user's, or raise NotFound."""
        ...

    async def running(self) -> list[UserJob]:
        """Return the jobs of all users that have not ended."""
        ...


class Belongings(Protocol):
    """One kind of what a user has."""

    @property
    def name(self) -> str:
        """What it is called in exports and receipts."""
        ...

    def lines(self, user: str) -> AsyncIterator[Mapping[str, Json]]:
        """Yield each of them as JSON."""
        ...

    async def erase(self, user: str) -> int:
        """Erase them all, and return how many; nothing is left to erase the second time."""
        ...
