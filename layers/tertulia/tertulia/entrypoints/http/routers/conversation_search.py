"""Past conversations, searched by what they were about."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import READING
from tertulia.entrypoints.http.fields import Absent
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/chat/search", tags=["conversations"])

USUAL = 5
MOST = 50


class MatchView(BaseModel):
    """A conversation that fits."""

    conversation_id: str
    title: str
    overview: str
    score: Annotated[float, Field(ge=0, le=1)]
    created_at: datetime


class MatchList(BaseModel):
    """What was found, the best first; maybe nothing."""

    matches: list[MatchView]


Words = Annotated[str, Field(max_length=4_000), Query(description="What it was about, in any language.")]
Limit = Annotated[Annotated[int, Field(ge=1, le=MOST)] | None, Absent, Query()]


@router.get("", responses=READING)
async def search(assistant: Parts, user: User, q: Words, limit: Limit = None) -> MatchList:
    """Find the user's conversations by meaning and by words; a text without words finds nothing."""
    found = await assistant.search(user, q, limit or USUAL)
    return MatchList(
        matches=[
            MatchView(
                conversation_id=match.conversation_id,
                title=match.title,
                overview=match.overview,
                score=round(match.score, 3),
                created_at=match.created_at,
            )
            for match in found
        ]
    )
