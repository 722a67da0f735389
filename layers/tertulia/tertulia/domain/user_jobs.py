"""What a user asks for that takes longer than an answer: everything of theirs as a file, or all of it erased."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tertulia.domain.prompts import Json

EXPORTS = "exports/"
"""What the keys of exports begin with; they are deleted after a week."""


class UserJobKind(StrEnum):
    """What is asked for."""

    EXPORT = "export"
    DELETION = "deletion"


class UserJobStatus(StrEnum):
    """How far it is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class UserJob:
    """One job; the counts that it has so far outlive the process that runs it."""

    id: str
    user: str
    kind: UserJobKind
    status: UserJobStatus = UserJobStatus.RUNNING
    created_at: datetime
    finished_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    """How much of each store was written or erased."""
    error: str | None = None
    """The code of the failure that ended it."""

    @property
    def file_key(self) -> str:
        """Where an export is kept."""
        return f"{EXPORTS}{self.id}.zip"


def new_job_id() -> str:
    """Make an id."""
    return secrets.token_hex(8)


def job_fields(job: UserJob) -> dict[str, Json]:
    """Write a job as JSON."""
    return {
        "id": job.id,
        "user": job.user,
        "kind": job.kind.value,
        "status": job.status.value,
        "created_at": job.created_at.isoformat(),
        "finished_at": job.finished_at.isoformat() if job.finished_at else None,
        "counts": dict(job.counts),
        "error": job.error,
    }


def job_of(fields: Mapping[str, Json]) -> UserJob:
    """Read a job from JSON."""
    finished = fields["finished_at"]
    return UserJob(
        id=fields["id"],
        user=fields["user"],
        kind=UserJobKind(fields["kind"]),
        status=UserJobStatus(fields["status"]),
        created_at=datetime.fromisoformat(fields["created_at"]),
        finished_at=datetime.fromisoformat(finished) if finished else None,
        counts=fields["counts"],
        error=fields["error"],
    )
