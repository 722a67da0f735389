"""The user's own account: who they are, what they wish for, and their tokens."""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from tertulia.domain.accounts import USUAL, ApiToken, Scope, UserSettings
from tertulia.domain.surfaces import Style
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.fields import Absent, Label, LanguageField, TimezoneField
from tertulia.entrypoints.http.who import User, Who

router = APIRouter(prefix="/api/me", tags=["account"])

MOST_MICRODOLLARS = 10**12


class Me(BaseModel):
    """Who asks, and what their token allows."""

    user_id: str
    scopes: list[Scope]


class SettingsView(BaseModel):
    """What a user wishes for where a request names nothing; null is unset."""

    language: LanguageField = None
    timezone: TimezoneField = None
    voice: Label = None
    style: Annotated[Style | None, Absent] = None
    retention_days: Annotated[
        Literal[7, 14, 30, 90, 365] | None,
        Absent,
        Field(description="After how many days what is kept is deleted; null keeps everything."),
    ] = None
    daily_spend_microdollars: Annotated[
        Annotated[int, Field(ge=0, le=MOST_MICRODOLLARS)] | None,
        Absent,
        Field(description="What a day may cost, where that is less than the deployment allows."),
    ] = None
    keeps_audio: Annotated[bool | None, Absent, Field(description="Keep the recordings of turns.")] = None


class TokenRequest(BaseModel):
    """A token to be made."""

    name: Annotated[str, Field(max_length=256, description="Where it is used.", examples=["Kitchen"])]
    scopes: Annotated[
        Annotated[list[Scope], Field(min_length=1, max_length=8)] | None,
        Absent,
        Field(description="What it allows, at most what yours does; without, `read` and `turns`."),
    ] = None


class TokenView(BaseModel):
    """A token as it is listed: never the token itself."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None
    """To the hour."""


class TokenMade(TokenView):
    """A token just made."""

    token: str
    """The token itself, shown this once."""


class TokenList(BaseModel):
    """The user's tokens, newest first."""

    tokens: list[TokenView]


TokenInPath = Annotated[str, Path(alias="id", max_length=64)]


@router.get("", responses=READING)
async def me(caller: Who) -> Me:
    """Say who asks."""
    return Me(user_id=caller.user, scopes=sorted(caller.scopes))


@router.get("/settings", responses=READING)
async def settings(assistant: Parts, user: User) -> SettingsView:
    """Return the user's settings."""
    return SettingsView(**asdict(await assistant.users.settings(user)))


@router.put("/settings", responses=problems(401))
async def save_settings(fields: SettingsView, assistant: Parts, user: User) -> SettingsView:
    """Change the settings that are named, null unsetting one; the others stay as they are."""
    named = fields.model_dump(include=fields.model_fields_set)
    if "keeps_audio" in named:
        named["keeps_audio"] = bool(named["keeps_audio"])
    saved: UserSettings = replace(await assistant.users.settings(user), **named)
    await assistant.wishes.save(user, saved)
    return SettingsView(**asdict(saved))


@router.get("/tokens", responses=READING)
async def tokens(assistant: Parts, user: User) -> TokenList:
    """List the user's tokens."""
    return TokenList(tokens=[TokenView(**_shown(token)) for token in await assistant.accounts.tokens(user)])


@router.post("/tokens", status_code=201, responses=problems(401, 409))
async def add_token(fields: TokenRequest, assistant: Parts, caller: Who) -> TokenMade:
    """Make a token; the answer is the only one that holds it."""
    scopes = frozenset(fields.scopes or USUAL)
    made = await assistant.accounts.add_token(caller, fields.name, scopes)
    return TokenMade(**_shown(made.token), token=made.secret)


@router.delete("/tokens/{id}", status_code=204, responses=READING, response_class=Response)
async def revoke_token(token_id: TokenInPath, assistant: Parts, user: User) -> Response:
    """Accept a token no more; sessions made from it end too."""
    await assistant.accounts.revoke(user, token_id)
    return Response(status_code=204)


def _shown(token: ApiToken) -> dict[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "scopes": sorted(token.scopes),
        "created_at": token.created_at,
        "last_used_at": token.last_used_at,
    }
