"""Files sent apart from the request that uses them."""

from fastapi import APIRouter, Request, Response

from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import problems
from tertulia.entrypoints.http.models import UploadRequest, UploadResponse
from tertulia.entrypoints.http.requests import uploads_of
from tertulia.entrypoints.http.who import User
from tertulia.usecases.uploads import Announced, Purpose

router = APIRouter(prefix="/api/uploads", tags=["uploads"])
taking = APIRouter(prefix="/api/uploads", tags=["uploads"])
"""Where this server itself takes the files."""


@router.post("", status_code=201, responses=problems(401))
async def announce(request: Request, fields: UploadRequest, assistant: Parts, user: User) -> UploadResponse:
    """Announce a file; the answer says where to send it, to be used within an hour.

    PUT takes the file as the whole body. POST takes a form: every one of `fields`, and the file as its last field, `file`.
    """
    announced = Announced(
        purpose=Purpose(fields.purpose),
        filename=fields.filename or "",
        content_type=fields.content_type or "",
        size=fields.bytes,
        sha256=fields.sha256,
    )
    upload = await uploads_of(assistant).announce(user, announced)
    told = {"upload_id": upload.id, "expires_at": upload.expires_at}
    if upload.way is not None:
        return UploadResponse(method="POST", url=upload.way.url, fields=dict(upload.way.fields), **told)
    address = request.url_for("receive", upload_id=upload.id).include_query_params(ticket=upload.ticket)
    return UploadResponse(method="PUT", url=str(address), fields={}, **told)


@taking.put("/{upload_id}", status_code=204, responses=problems(409), response_class=Response)
async def receive(upload_id: str, ticket: str, request: Request, assistant: Parts) -> Response:
    """Take in an announced file, as the whole body; the ticket in the address is what allows it."""
    await uploads_of(assistant).receive(upload_id, ticket, await request.body())
    return Response(status_code=204)
