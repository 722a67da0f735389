"""What follows a turn: handed over durably, done apart from the turn, and found again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tertulia.domain.memories import Fact
from tertulia.domain.summaries import Digest, Match, SummaryEntry, Vector
from tertulia.domain.turns import Conversation, Turn


class FollowUp(Protocol):
    """Where a stored turn is handed over."""

    async def start(self, conversation: Conversation, turn: Turn) -> None:
        """Hand the turn over; when this returns, it is followed up whatever happens here. The same turn twice is one."""
        ...


class SummaryWish(Protocol):
    """Where somebody asks for a summary now."""

    async def summarize_now(self, conversation: Conversation, turn: Turn) -> None:
        """Have the conversation summarized up to its newest turn without waiting until it is quiet. Twice is once."""
        ...


class FactFinder(Protocol):
    """Finds what a turn tells about its user."""

    async def facts(self, turn: Turn) -> list[Fact]:
        """Return what the user's own words tell that is worth remembering; raises ProviderFailed."""
        ...


class Summarizer(Protocol):
    """Writes what a conversation was about."""

    async def digest(self, before: Digest, turns: Sequence[Turn]) -> Digest:
        """Return the digest of what was known before and these turns, in their language; raises ProviderFailed."""
        ...


class SummaryIndex(Protocol):
    """Summaries by their meaning and their words. Nobody finds another user's."""

    async def put(self, entry: SummaryEntry) -> None:
        """Keep a summary, in place of an earlier one of its conversation."""
        ...

    async def nearest(self, user: str, vector: Vector, limit: int) -> list[Match]:
        """Return the user's summaries nearest in meaning, the nearest first, of the same model alone."""
        ...

    async def with_words(self, user: str, text: str, limit: int) -> list[Match]:
        """Return the user's summaries that share words with a text, the best first.

        The score is their share of what the words of the text tell, from 0 to 1; words that most summaries hold tell nothing.
        """
        ...

    async def named(self, user: str, conversation_ids: Sequence[str]) -> list[Match]:
        """Return the user's summaries of these conversations, those that there are."""
        ...

    async def retitle(self, user: str, conversation_id: str, title: str) -> None:
        """Give a summary another title, found by its words at once; one that is not there is fine."""
        ...

    async def remove(self, user: str, conversation_id: str) -> None:
        """Forget a conversation's summary; one that is not there is fine."""
        ...

    async def remove_all(self, user: str) -> None:
        """Forget all summaries of the user."""
        ...


class JobKind(StrEnum):
    """The two halves of a follow-up."""

    MEMORIES = "memories"
    SUMMARY = "summary"


@dataclass(frozen=True, kw_only=True)
class Job:
    """One half of the follow-up of a turn: ids, never words."""

    user: str
    conversation_id: str
    turn_id: str
    kind: JobKind
    due_at: datetime
    attempts: int = 0
    """How often it was tried and failed."""
    lease: str = ""
    """Who works on it, while somebody does."""
    error: str = ""
    """The code of its last failure."""


class JobQueue(Protocol):
    """Jobs that outlive the process; several processes may take from it."""

    async def add(self, jobs: Sequence[Job]) -> None:
        """Keep jobs, all or none; a job of the same turn and kind is there already."""
        ...

    async def hasten(self, job: Job) -> None:
        """Have a job done when it says, whether it waits, is done or was given up; one that is worked on goes on."""
        ...

    async def take(self) -> Job | None:
        """Lease the job that is due for longest, for as long as a job may take; None when none is due."""
        ...

    async def finish(self, job: Job) -> None:
        """Note that a leased job is done."""
        ...

    async def postpone(self, job: Job) -> None:
        """Give a leased job back, with its time, attempts and error as they are now."""
        ...

    async def fail(self, job: Job) -> None:
        """Note that a leased job is given up, until a person has it tried again."""
        ...

    async def next_due(self) -> datetime | None:
        """Return when there is something to take next."""
        ...

    async def forgotten(self, since: datetime, until: datetime) -> list[Job]:
        """Return jobs, due now, for the turns begun in between, and stored, that were never handed over."""
        ...


@dataclass(frozen=True, kw_only=True)
class FailedFollowUp:
    """A follow-up that a person should look at."""

    user: str
    conversation_id: str
    turn_id: str
    step: str
    error: str
    """A code, never a text from a vendor."""
    failed_at: datetime


class FailedFollowUps(Protocol):
    """The follow-ups that were given up, for the person who runs the product."""

    async def failed(self, limit: int = 100) -> list[FailedFollowUp]:
        """Return them, the latest first."""
        ...

    async def retry(self, turn_id: str) -> bool:
        """Have the follow-up of a turn tried again; False when none of it has failed."""
        ...
