"""The jobs of follow-ups in SQLite: durable, leased, over all processes that share the file."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from sqlite3 import Row

from tertulia.adapters.cursors import sortable
from tertulia.adapters.embedded.sqlite import Database
from tertulia.domain.turns import turn_number
from tertulia.ports import Clock
from tertulia.ports.follow_up import FailedFollowUp, Job, JobKind

LEASE = timedelta(minutes=5)
"""Longer than any job may take; after it, the process that held the job counts as gone."""
_MOST_FORGOTTEN = 100
_MINE = "user = ? AND turn_id = ? AND kind = ? AND lease = ?"

# While a job is leased, `due_at` is the end of its lease: a job of a process that is gone becomes due by itself.
_NEXT = "SELECT * FROM follow_up_jobs WHERE state = 'waiting' ORDER BY due_at LIMIT 1"


class SqliteJobs:
    """The job queue of a laptop."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, jobs: Sequence[Job]) -> None:
        """Keep jobs, all or none; a job of the same turn and kind is there already, and so is none of a deleted turn."""
        async with self._database.writing() as connection:
            await connection.executemany(
                "INSERT INTO follow_up_jobs (user, turn_id, kind, conversation_id, due_at)"
                " SELECT user, id, ?, conversation_id, ? FROM turns WHERE user = ? AND id = ?"
                " ON CONFLICT DO NOTHING",
                [(job.kind.value, sortable(job.due_at), job.user, job.turn_id) for job in jobs],
            )

    async def hasten(self, job: Job) -> None:
        """Have a job done when it says, whether it waits, is done or was given up; one that is worked on goes on."""
        async with self._database.writing() as connection:
            await connection.execute(
                "INSERT INTO follow_up_jobs (user, turn_id, kind, conversation_id, due_at)"
                " SELECT user, id, ?, conversation_id, ? FROM turns WHERE user = ? AND id = ?"
                " ON CONFLICT DO UPDATE SET state = 'waiting', due_at = excluded.due_at, attempts = 0, error = ''"
                " WHERE lease = ''",
                (job.kind.value, sortable(job.due_at), job.user, job.turn_id),
            )

    async def take(self) -> Job | None:
        """Lease the job that is due for longest; None when none is due."""
        now = self._clock.now()
        due = await self.next_due()
        if due is None or due > now:
            return None
        async with self._database.writing(survives_power_loss=False) as connection:
            row = next(iter(await connection.execute_fetchall(_NEXT)), None)
            if row is None or row["due_at"] > sortable(now):
                return None
            job = replace(_job(row), lease=secrets.token_hex(8))
            await connection.execute(
                "UPDATE follow_up_jobs SET lease = ?, due_at = ? WHERE user = ? AND turn_id = ? AND kind = ?",
                (job.lease, sortable(now + LEASE), job.user, job.turn_id, job.kind.value),
            )
            return job

    async def finish(self, job: Job) -> None:
        """Note that a leased job is done."""
        await self._settle(job, "done")

    async def postpone(self, job: Job) -> None:
        """Give a leased job back, with its time, attempts and error as they are now."""
        await self._settle(job, "waiting")

    async def fail(self, job: Job) -> None:
        """Note that a leased job is given up, until a person has it tried again."""
        await self._settle(replace(job, due_at=self._clock.now()), "failed")

    async def next_due(self) -> datetime | None:
        """Return when there is something to take next."""
        row = await self._database.row(_NEXT)
        return datetime.fromisoformat(row["due_at"]) if row else None

    async def forgotten(self, since: datetime, until: datetime) -> list[Job]:
        """Return jobs, due now, for the turns begun in between, and stored, that were never handed over."""
        rows = await self._database.rows(
            "SELECT user, id, conversation_id FROM turns WHERE number BETWEEN ? AND ? AND json_extract(document, '$.error') IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM follow_up_jobs WHERE user = turns.user AND turn_id = turns.id)"
            " ORDER BY number LIMIT ?",
            (turn_number(since, 0), turn_number(until, 0), _MOST_FORGOTTEN),
        )
        return [
            Job(
                user=row["user"],
                conversation_id=row["conversation_id"],
                turn_id=row["id"],
                kind=kind,
                due_at=self._clock.now(),
            )
            for row in rows
            for kind in JobKind
        ]

    async def failed(self, limit: int = 100) -> list[FailedFollowUp]:
        """Return the follow-ups that were given up, the latest first."""
        rows = await self._database.rows(
            "SELECT * FROM follow_up_jobs WHERE state = 'failed' ORDER BY due_at DESC LIMIT ?", (max(limit, 0),)
        )
        return [
            FailedFollowUp(
                user=row["user"],
                conversation_id=row["conversation_id"],
                turn_id=row["turn_id"],
                step=row["kind"],
                error=row["error"],
                failed_at=datetime.fromisoformat(row["due_at"]),
            )
            for row in rows
        ]

    async def retry(self, turn_id: str) -> bool:
        """Have the follow-up of a turn tried again; False when none of it has failed."""
        async with self._database.writing() as connection:
            changed = await connection.execute(
                "UPDATE follow_up_jobs SET state = 'waiting', attempts = 0, error = '', due_at = ?"
                " WHERE turn_id = ? AND state = 'failed'",
                (sortable(self._clock.now()), turn_id),
            )
        return changed.rowcount > 0

    async def _settle(self, job: Job, state: str) -> None:
        """Change a job that this lease still holds: one that took too long belongs to another by now."""
        async with self._database.writing() as connection:
            await connection.execute(
                f"UPDATE follow_up_jobs SET state = ?, due_at = ?, attempts = ?, error = ?, lease = '' WHERE {_MINE}",  # noqa: S608
                (
                    state,
                    sortable(job.due_at),
                    job.attempts,
                    job.error,
                    job.user,
                    job.turn_id,
                    job.kind.value,
                    job.lease,
                ),
            )


def _job(row: Row) -> Job:
    return Job(
        user=row["user"],
        conversation_id=row["conversation_id"],
        turn_id=row["turn_id"],
        kind=JobKind(row["kind"]),
        due_at=datetime.fromisoformat(row["due_at"]),
        attempts=row["attempts"],
        lease=row["lease"],
        error=row["error"],
    )
