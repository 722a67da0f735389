"""Which route a text would take."""

from fastapi import APIRouter

from tertulia.domain.languages import ENGLISH, closest_language
from tertulia.domain.turns import checked_words
from tertulia.entrypoints.http.context import Parts, Wished
from tertulia.entrypoints.http.counted import counted
from tertulia.entrypoints.http.documents import ASKING
from tertulia.entrypoints.http.models import RouteRequest, RouteResponse
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api", tags=["turns"])


@router.post("/route", responses=ASKING)
async def route(fields: RouteRequest, assistant: Parts, user: User, wished: Wished) -> RouteResponse:
    """Say how a text would be answered; no turn is taken."""
    text = checked_words(fields.text, assistant.settings.spoken.max_characters)
    told = fields.language or wished.language
    language = closest_language(told) if told else assistant.languages.detect(text) or ENGLISH
    async with counted(assistant, user):
        chosen, reason = await assistant.router.choose(text, language, assistant.settings.spoken)
    return RouteResponse(route=chosen, reason=reason)
