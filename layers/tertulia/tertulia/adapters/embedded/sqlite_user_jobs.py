"""Jobs of users in SQLite."""

from tertulia.adapters.documents import from_document, to_document
from tertulia.adapters.embedded.sqlite import Database
from tertulia.domain.errors import NotFound
from tertulia.domain.user_jobs import UserJob, job_fields, job_of


class SqliteUserJobs:
    """The jobs that users asked for, on this machine."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, job: UserJob) -> None:
        """Keep a job, as it is now."""
        async with self._database.writing() as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO user_jobs (user, id, status, document) VALUES (?, ?, ?, ?)",
                (job.user, job.id, job.status.value, to_document(job_fields(job))),
            )

    async def get(self, user: str, job_id: str) -> UserJob:
        """Return a job of the user's, or raise NotFound."""
        sql = "SELECT document FROM user_jobs WHERE user = ? AND id = ?"
        if row := await self._database.row(sql, (user, job_id)):
            return job_of(from_document(row["document"]))
        raise NotFound

    async def running(self) -> list[UserJob]:
        """Return the jobs of all users that have not ended."""
        rows = await self._database.rows("SELECT document FROM user_jobs WHERE status = 'running'")
        return [job_of(from_document(row["document"])) for row in rows]
