"""What the user's turns have used and cost."""

from collections.abc import Iterable
from datetime import UTC, date, timedelta
from typing import Annotated, TypedDict

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from tertulia.domain.usage import ModelUsage, UsageRecord
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import READING
from tertulia.entrypoints.http.fields import Absent
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/me", tags=["account"])

USUAL_DAYS = 30
MOST_DAYS = 366


class Tokens(BaseModel):
    """Tokens read and written."""

    read: Annotated[int, Field(serialization_alias="in")]
    written: Annotated[int, Field(serialization_alias="out")]


class UseView(BaseModel):
    """What was used of one model, or of all."""

    tokens: Tokens
    audio_seconds: float
    characters: int
    cost_microdollars: int


class DayView(UseView):
    """What was used in a day of UTC."""

    day: date
    turns: int
    models: dict[str, UseView]


class TotalView(UseView):
    """What was used in all these days."""

    turns: int


class TodayView(BaseModel):
    """How today stands against the daily limit; null is no limit."""

    spent_microdollars: int
    limit_microdollars: int | None


class UsageView(BaseModel):
    """The use of the last days, the earliest first; days without any are left out."""

    days: list[DayView]
    total: TotalView
    today: TodayView


Days = Annotated[Annotated[int, Field(ge=1, le=MOST_DAYS)] | None, Absent, Query(description="How many days back.")]


@router.get("/usage", responses=READING)
async def usage(assistant: Parts, user: User, days: Days = None) -> UsageView:
    """Return what the user's turns used, by day and model."""
    today = assistant.clock.now().astimezone(UTC).date()
    found = await assistant.usage.days(user, today - timedelta(days=(days or USUAL_DAYS) - 1))
    caps = await assistant.spending.caps_of(user)
    return UsageView(
        days=[
            DayView(
                day=each.day,
                turns=each.used.turns,
                models={model: UseView(**_use(use)) for model, use in each.used.models.items()},
                **_use(_together(each.used)),
            )
            for each in found
        ],
        total=TotalView(
            turns=sum(each.used.turns for each in found),
            **_use(_sum(_together(each.used) for each in found)),
        ),
        today=TodayView(spent_microdollars=await assistant.usage.spent(user, today), limit_microdollars=caps.user),
    )


def _together(used: UsageRecord) -> ModelUsage:
    return _sum(used.models.values())


def _sum(uses: Iterable[ModelUsage]) -> ModelUsage:
    return sum(uses, start=ModelUsage())


class _Use(TypedDict):
    tokens: Tokens
    audio_seconds: float
    characters: int
    cost_microdollars: int


def _use(use: ModelUsage) -> _Use:
    return _Use(
        tokens=Tokens(read=use.tokens_in, written=use.tokens_out),
        audio_seconds=round(use.audio_seconds, 2),
        characters=use.characters,
        cost_microdollars=use.cost_microdollars,
    )
