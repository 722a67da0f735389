"""Sessions of pages: a token exchanged for a cookie, since pictures, sound and event sources cannot carry a header."""

from typing import Annotated

from fastapi import APIRouter, Cookie, Request, Response

from tertulia.domain.accounts import SESSION_LENGTH, TOKEN_PREFIX
from tertulia.entrypoints.credentials import COOKIE
from tertulia.entrypoints.http.documents import problems
from tertulia.entrypoints.http.models import SessionRequest, SessionResponse
from tertulia.entrypoints.http.who import User, door_of

router = APIRouter(prefix="/api/session", tags=["session"])


@router.post("", responses=problems(401))
async def begin(request: Request, response: Response, fields: SessionRequest) -> SessionResponse:
    """Make a session from a token of one's own; its cookie is not the token, and ends with it."""
    door = door_of(request)
    if door.visitor is not None and not fields.token.startswith(TOKEN_PREFIX):
        return SessionResponse(user_id=door.visitor)
    caller, session, ends_at = await door.callers.begin_session(fields.token)
    response.set_cookie(
        COOKIE,
        session,
        max_age=int(SESSION_LENGTH.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return SessionResponse(user_id=caller.user, expires_at=ends_at)


@router.get("", responses=problems(401))
async def current(user: User) -> SessionResponse:
    """Say whose session it is."""
    return SessionResponse(user_id=user)


@router.delete("", status_code=204, responses=problems(401), response_class=Response)
async def end(
    request: Request, _: User, session: Annotated[str | None, Cookie(alias=COOKIE, include_in_schema=False)] = None
) -> Response:
    """End the session."""
    if session:
        await door_of(request).callers.end_session(session)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
