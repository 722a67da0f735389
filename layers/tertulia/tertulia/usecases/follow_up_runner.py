"""The follow-up of turns in this process: a durable queue, worked off one job at a time behind the people served."""

import asyncio
import logging
import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tertulia.domain.errors import NotConfigured, ProviderTimeout, TertuliaError
from tertulia.ports import Clock
from tertulia.ports.follow_up import Job, JobKind, JobQueue
from tertulia.usecases.follow_up import SummaryIsDue
from tertulia.usecases.index_summary import IndexSummary
from tertulia.usecases.quiet import GaveWay, Quiet
from tertulia.usecases.remember import Remember
from tertulia.usecases.summarize import Summarize

logger = logging.getLogger(__name__)

JOB_SECONDS = 240.0
"""Shorter than a lease, so that nobody else takes a job that is still worked on."""
MOST_ATTEMPTS = 6
FIRST_WAIT_SECONDS = 5.0
MOST_WAIT_SECONDS = 600.0
LOOKS_EVERY_SECONDS = 5.0
"""How soon new jobs are found, of this process or of another; nobody waits for them."""
SWEEPS_EVERY = timedelta(minutes=10)
SWEEPS_BACK = timedelta(days=1)
STARTED_BY_THEN = timedelta(minutes=5)
"""A younger turn may be about to be handed over."""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The use cases that a follow-up is made of."""

    remember: Remember
    is_due: SummaryIsDue
    summarize: Summarize
    index_summary: IndexSummary

    async def __call__(self, job: Job) -> None:
        """Do one job; doing it twice is doing it once."""
        if job.kind is JobKind.MEMORIES:
            await self.remember(job.user, job.turn_id)
        elif await self.is_due(job.user, job.conversation_id, job.turn_id):
            await self.summarize(job.user, job.conversation_id, job.turn_id)
            await self.index_summary(job.user, job.conversation_id)


@dataclass(kw_only=True)
class FollowUpRunner:
    """Works the queue off."""

    queue: JobQueue
    steps: Steps
    clock: Clock
    quiet: Quiet | None
    """None where working in the back costs the people served nothing."""

    async def run(self) -> None:
        """Work until cancelled, and take over what earlier processes left behind."""
        swept_at: datetime | None = None
        while True:
            due: datetime | None = None
            try:
                if swept_at is None or self.clock.now() - swept_at > SWEEPS_EVERY:
                    await self.sweep()
                    swept_at = self.clock.now()
                await self._work(politely=True)
                due = await self.queue.next_due()
            except TertuliaError as error:
                logger.warning("follow-ups wait: %s", error.code)
            await self._until(due)

    async def sweep(self) -> None:
        """Queue the turns of the last day that were stored but never handed over."""
        now = self.clock.now()
        if forgotten := await self.queue.forgotten(now - SWEEPS_BACK, now - STARTED_BY_THEN):
            await self.queue.add(forgotten)

    async def drain(self) -> None:
        """Do every job that is due now; nobody else is served by this process any more."""
        await self._work(politely=False)

    async def _work(self, *, politely: bool) -> None:
        quiet = self.quiet if politely else None
        while True:
            if quiet:
                await quiet.until_calm()
            job = await self.queue.take()
            if job is None:
                return
            await self._settle(job, await self._outcome(job, quiet))

    async def _outcome(self, job: Job, quiet: Quiet | None) -> BaseException | None:
        work = self.steps(job)
        doing = asyncio.wait_for(quiet.unless_somebody_comes(work) if quiet else work, JOB_SECONDS)
        try:
            [outcome] = await asyncio.gather(doing, return_exceptions=True)
        except asyncio.CancelledError:
            # Whoever comes next need not wait for the end of the lease.
            await asyncio.shield(self.queue.postpone(replace(job, due_at=self.clock.now())))
            raise
        return outcome

    async def _settle(self, job: Job, outcome: BaseException | None) -> None:
        match outcome:
            case None:
                await self.queue.finish(job)
            case GaveWay():
                await self.queue.postpone(replace(job, due_at=self.clock.now()))
            case TertuliaError(code=code):
                await self._again(job, code, is_hopeless=isinstance(outcome, NotConfigured))
            case TimeoutError():
                await self._again(job, ProviderTimeout.code)
            case _:
                logger.error("a follow-up ended in a defect", exc_info=outcome)
                await self._again(job, TertuliaError.code, is_hopeless=True)

    async def _again(self, job: Job, code: str, *, is_hopeless: bool = False) -> None:
        tried = replace(job, attempts=job.attempts + 1, error=code)
        if is_hopeless or tried.attempts >= MOST_ATTEMPTS:
            logger.warning("a follow-up is given up: %s of turn %s, %s", job.kind.value, job.turn_id, code)
            await self.queue.fail(tried)
        else:
            await self.queue.postpone(replace(tried, due_at=self._later(tried.attempts)))

    def _later(self, attempts: int) -> datetime:
        seconds = min(FIRST_WAIT_SECONDS * 2 ** (attempts - 1), MOST_WAIT_SECONDS)
        return self.clock.now() + timedelta(seconds=seconds * random.uniform(0.5, 1.5))  # noqa: S311

    async def _until(self, due: datetime | None) -> None:
        left = (due - self.clock.now()).total_seconds() if due else LOOKS_EVERY_SECONDS
        await self.clock.sleep(min(max(left, 0.0), LOOKS_EVERY_SECONDS))
