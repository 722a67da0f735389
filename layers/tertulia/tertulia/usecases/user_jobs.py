"""Everything of a user's as a ZIP, or all of it erased, as jobs that go on after a restart."""

import asyncio
import io
import json
import logging
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from tertulia.domain.errors import TertuliaError
from tertulia.domain.user_events import UserEvent
from tertulia.domain.user_jobs import EXPORTS, UserJob, UserJobKind, UserJobStatus, new_job_id
from tertulia.ports import Blob, BlobStore, Clock
from tertulia.ports.retention import OldFiles
from tertulia.ports.user_jobs import Belongings, UserJobs
from tertulia.usecases.user_stream import UserStream

logger = logging.getLogger(__name__)

EXPORTS_KEPT = timedelta(days=7)
FILES = "files"


@dataclass(frozen=True, kw_only=True)
class UserFiles:
    """The files of users, by their keys."""

    blobs: BlobStore
    keys: OldFiles
    clock: Clock

    async def of(self, user: str, kept_for: timedelta = timedelta(), prefix: str = "") -> list[str]:
        """Return the keys of files older than that."""
        # A file of this moment is one too.
        before = self.clock.now() + timedelta(minutes=1) - kept_for
        return await self.keys.older(user, before, prefix)

    async def remove(self, user: str, keys: Sequence[str]) -> int:
        """Delete files."""
        for key in keys:
            await self.blobs.remove(user, key)
        return len(keys)


@dataclass(kw_only=True)
class UserJobDesk:
    """Takes jobs of users, runs them beside everything else, and tells when they are done."""

    jobs: UserJobs
    belongings: Sequence[Belongings]
    files: UserFiles
    stream: UserStream
    clock: Clock
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def begin(self, user: str, kind: UserJobKind) -> UserJob:
        """Begin a job; it is kept before this returns."""
        job = UserJob(id=new_job_id(), user=user, kind=kind, created_at=self.clock.now())
        await self.jobs.put(job)
        self._start(job)
        return job

    async def resume(self) -> None:
        """Go on with the jobs that an earlier process left."""
        for job in await self.jobs.running():
            self._start(job)

    async def close(self) -> None:
        """Leave the jobs to the next process."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def run(self, job: UserJob) -> UserJob:
        """Do a job to its end; one that fails says so."""
        try:
            done = await (self._export(job) if job.kind is UserJobKind.EXPORT else self._erase(job))
            done = replace(done, status=UserJobStatus.DONE, finished_at=self.clock.now())
        except TertuliaError as error:
            logger.warning("a job of a user failed: %s", error.code)
            done = replace(job, status=UserJobStatus.FAILED, finished_at=self.clock.now(), error=error.code)
        await self.jobs.put(done)
        if done.kind is UserJobKind.EXPORT:
            # Whoever had everything erased wants nothing kept, not even that it was.
            data = {"id": done.id, "kind": done.kind.value, "status": done.status.value}
            await self.stream.publish(done.user, UserEvent(name="job", data=data, key=f"job {done.id}"))
        return done

    def _start(self, job: UserJob) -> None:
        task = asyncio.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, job: UserJob) -> None:
        try:
            await self.run(job)
        except TertuliaError as error:
            logger.warning("a job of a user waits for the next start: %s", error.code)

    async def _export(self, job: UserJob) -> UserJob:
        await self.files.remove(job.user, await self.files.of(job.user, EXPORTS_KEPT, EXPORTS))
        buffer, counts = io.BytesIO(), dict[str, int]()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for kind in self.belongings:
                lines = [json.dumps(line, ensure_ascii=False) async for line in kind.lines(job.user)]
                text = "".join(f"{line}\n" for line in lines).encode(errors="replace")
                await asyncio.to_thread(archive.writestr, f"{kind.name}.jsonl", text)
                counts[kind.name] = len(lines)
            keys = [key for key in await self.files.of(job.user) if not key.startswith(EXPORTS)]
            for key in keys:
                blob = await self.files.blobs.get(job.user, key)
                await asyncio.to_thread(archive.writestr, f"{FILES}/{key}", blob.data)
            counts[FILES] = len(keys)
        name, now = f"tertulia-{job.created_at:%Y-%m-%d}.zip", self.clock.now()
        await self.files.blobs.put(
            job.user,
            Blob(key=job.file_key, data=buffer.getvalue(), name=name, media_type="application/zip", created_at=now),
        )
        return replace(job, counts=counts)

    async def _erase(self, job: UserJob) -> UserJob:
        for kind in self.belongings:
            job = await self._counted(job, kind.name, await kind.erase(job.user))
        return await self._counted(job, FILES, await self.files.remove(job.user, await self.files.of(job.user)))

    async def _counted(self, job: UserJob, name: str, count: int) -> UserJob:
        """Keep the receipt so far: a process that ends now is followed by one that counts on."""
        counted = replace(job, counts={**job.counts, name: job.counts.get(name, 0) + count})
        await self.jobs.put(counted)
        return counted
