"""Action items are due on dates, worked out in the zone of the person who named them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tertulia.domain.due_dates import due_date, with_dates
from tertulia.domain.summaries import ActionItem
from tests.fakes.kept_turns import a_turn

LATE = datetime(2030, 6, 3, 22, 30, tzinfo=UTC)
"""A Monday in London's evening, and Tuesday in Berlin."""


@pytest.mark.parametrize(
    ("words", "language", "due"),
    [
        ("Friday", "en-US", "2030-06-07"),
        ("by July 31", "en-US", "2030-07-31"),
        ("tomorrow", "en-US", "2030-06-05"),
        ("today", "en-US", "2030-06-04"),
        ("in two weeks", "en-US", "2030-06-18"),
        ("tomorrow at 9", "en-US", "2030-06-05T09:00+02:00"),
        ("morgen um 9", "de", "2030-06-05T09:00+02:00"),
        ("Freitag", "de", "2030-06-07"),
        ("mañana", "es-ES", "2030-06-05"),
        ("demain", "fr", "2030-06-05"),
        ("amanhã", "pt-BR", "2030-06-05"),
        ("завтра", "ru", "2030-06-05"),
        ("明天", "zh-CN", "2030-06-05"),
        ("明日", "ja", "2030-06-05"),
        ("내일", "ko", "2030-06-05"),
        ("2030-06-07", "en-US", "2030-06-07"),
        ("soon", "en-US", "soon"),
        ("every day", "en-US", "every day"),
        ("when it rains", "en-US", "when it rains"),
    ],
)
def test_a_day_that_is_named_becomes_a_date(words: str, language: str, due: str) -> None:
    said_in = a_turn(created_at=LATE, language=language)
    assert due_date(words, said_in, ZoneInfo("Europe/Berlin")) == due


def test_tomorrow_is_the_day_after_the_turn_that_says_so() -> None:
    turns = [
        a_turn("t1", 1, text="I call Ana tomorrow", created_at=LATE),
        a_turn("t2", 2, text="And the tickets?", created_at=LATE.replace(day=9)),
    ]
    items = (ActionItem.of("Call Ana", "tomorrow"), ActionItem.of("Buy tickets"))
    assert [item.due for item in with_dates(items, turns, "Europe/London")] == ["2030-06-04", None]
    assert [item.due for item in with_dates(items, turns, "Europe/Berlin")] == ["2030-06-05", None]
    assert [item.due for item in with_dates(items, turns, "Nowhere/At all")] == ["2030-06-04", None]
