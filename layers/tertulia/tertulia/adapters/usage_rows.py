"""How stores keep what was used: one row for each day and model, in whole numbers, and one for the turns of the day."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import groupby
from typing import Any, Protocol

from tertulia.domain.usage import DayOfUsage, ModelUsage, UsageRecord

KEPT_DAYS = 400
"""A year and a little, so that a month can be compared with last year's."""

NO_MODEL = ""
"""The row that counts the turns."""

COUNTS = ("turns", "tokens_in", "tokens_out", "audio_ms", "characters", "cost_microdollars")


class Row(Protocol):
    """A row of a database, or an item of a table."""

    def __getitem__(self, name: str, /) -> Any:
        """Return a value by its name."""
        ...


def rows_of(used: UsageRecord) -> Iterator[tuple[str, dict[str, int]]]:
    """Return each model with its counts."""
    yield NO_MODEL, _counts(ModelUsage(), used.turns)
    for model, usage in used.models.items():
        yield model, _counts(usage, 0)


def days_of(rows: Iterable[Row]) -> list[DayOfUsage]:
    """Read the rows of a user, which come sorted by day."""
    return [
        DayOfUsage(day=date.fromisoformat(day), used=_record(list(of_day)))
        for day, of_day in groupby(rows, key=lambda row: row["day"])
    ]


def _counts(usage: ModelUsage, turns: int) -> dict[str, int]:
    return {
        "turns": turns,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "audio_ms": round(usage.audio_seconds * 1000),
        "characters": usage.characters,
        "cost_microdollars": usage.cost_microdollars,
    }


def _record(rows: list[Row]) -> UsageRecord:
    return UsageRecord(
        turns=sum(row["turns"] for row in rows),
        models={
            row["model"]: ModelUsage(
                tokens_in=row["tokens_in"],
                tokens_out=row["tokens_out"],
                audio_seconds=row["audio_ms"] / 1000,
                characters=row["characters"],
                cost_microdollars=row["cost_microdollars"],
            )
            for row in rows
            if row["model"] != NO_MODEL
        },
    )
