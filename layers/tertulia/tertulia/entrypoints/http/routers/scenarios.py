"""The scenarios a turn may be set in."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from tertulia.domain.scenarios import scenarios
from tertulia.entrypoints.http.documents import READING
from tertulia.entrypoints.http.errors import language_of
from tertulia.entrypoints.http.fields import LanguageField
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/scenarios", tags=["turns"])


class ScenarioView(BaseModel):
    """A scenario as a person chooses it."""

    name: str
    description: str


class ScenarioList(BaseModel):
    """Every scenario by its id."""

    scenarios: dict[str, ScenarioView]


@router.get("", responses=READING)
async def list_scenarios(request: Request, _: User, lang: Annotated[LanguageField, Query()] = None) -> ScenarioList:
    """List the scenarios in a language, that of `Accept-Language` where none is asked for."""
    told = scenarios(lang or language_of(request.scope))
    views = {id_: ScenarioView(name=one.name, description=one.description) for id_, one in told.items()}
    return ScenarioList(scenarios=views)
