"""Sessions of pages: a token exchanged for a cookie, since pictures, sound and event sources cannot carry a header."""

from typing import Annotated

from fastapi import APIRouter, Cookie, Request, Response

from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import problems
from tertulia.entrypoints.http.models import SessionRequest, SessionResponse
from tertulia.entrypoints.http.who import COOKIE, SESSION_DAYS, Tokens, User

router = APIRouter(prefix="/api/session", tags=["session"])


@router.post("", responses=problems(401))
async def begin(request: Request, response: Response, fields: SessionRequest, assistant: Parts) -> SessionResponse:
    """Make a session from a token; its cookie is not the token."""
    tokens: Tokens = request.app.state.tokens
    if tokens.visitor is not None:
        return SessionResponse(user_id=tokens.visitor)
    session, ends_at = tokens.session_for(fields.token, assistant.clock.now())
    response.set_cookie(
        COOKIE,
        session,
        max_age=SESSION_DAYS * 24 * 3600,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return SessionResponse(user_id=tokens.user_of(fields.token), expires_at=ends_at)


@router.get("", responses=problems(401))
async def current(user: User) -> SessionResponse:
    """Say whose session it is."""
    return SessionResponse(user_id=user)


@router.delete("", status_code=204, responses=problems(401), response_class=Response)
async def end(
    request: Request, _: User, session: Annotated[str | None, Cookie(alias=COOKIE, include_in_schema=False)] = None
) -> Response:
    """End the session."""
    tokens: Tokens = request.app.state.tokens
    if session:
        tokens.end(session)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
