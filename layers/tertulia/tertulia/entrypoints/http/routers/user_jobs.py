"""Everything of a user's as a file, or all of it erased."""

import re
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import AfterValidator, BaseModel

from tertulia.domain.errors import NotFound
from tertulia.domain.user_jobs import UserJob, UserJobKind, UserJobStatus
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/me", tags=["account"])

_ID = re.compile(r"[0-9a-f]{16}")
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"description": "The ZIP.", "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}
}


def _id_in_path(text: str) -> str:
    if not _ID.fullmatch(text):
        raise NotFound
    return text


JobInPath = Annotated[str, Path(alias="id", max_length=64), AfterValidator(_id_in_path)]


class JobView(BaseModel):
    """A job; `counts` says how much of each store was written or erased so far."""

    id: str
    kind: UserJobKind
    status: UserJobStatus
    created_at: datetime
    finished_at: datetime | None
    counts: dict[str, int]
    url: str | None
    """Where the ZIP of an export is fetched, for a week."""
    error: str | None


@router.post("/export", status_code=202, responses=problems(401, 503))
async def export(assistant: Parts, user: User) -> JobView:
    """Begin to write everything of yours into a ZIP: JSON lines for each kind, and the files."""
    return _view(await assistant.user_jobs.begin(user, UserJobKind.EXPORT))


@router.delete("", status_code=202, responses=problems(401, 503))
async def erase(assistant: Parts, user: User) -> JobView:
    """Begin to erase everything of yours; what is left is the receipt."""
    return _view(await assistant.user_jobs.begin(user, UserJobKind.DELETION))


@router.get("/jobs/{id}", responses=READING)
async def job(job_id: JobInPath, assistant: Parts, user: User) -> JobView:
    """Say how far a job is."""
    return _view(await assistant.user_jobs.jobs.get(user, job_id))


@router.get("/jobs/{id}/file", responses=READING | _ZIP, response_class=Response)
async def file(job_id: JobInPath, assistant: Parts, user: User) -> Response:
    """Return the ZIP of an export."""
    done = await assistant.user_jobs.jobs.get(user, job_id)
    blob = await assistant.blobs.get(user, done.file_key)
    return Response(
        blob.data, media_type=blob.media_type, headers={"Content-Disposition": f'attachment; filename="{blob.name}"'}
    )


def _view(job: UserJob) -> JobView:
    has_file = job.kind is UserJobKind.EXPORT and job.status is UserJobStatus.DONE
    return JobView(
        id=job.id,
        kind=job.kind,
        status=job.status,
        created_at=job.created_at,
        finished_at=job.finished_at,
        counts=dict(job.counts),
        url=f"/api/me/jobs/{job.id}/file" if has_file else None,
        error=job.error,
    )
