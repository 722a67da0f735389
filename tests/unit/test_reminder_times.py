"""Times as people say them in ten languages, and what is asked where they leave something open."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.languages import LANGUAGES
from tertulia.domain.reminder_times import moment
from tertulia.domain.reminders import Open, Repeat, Unclear, at_wall_time, next_time

TABLE = Path(__file__).parents[1] / "recordings" / "reminder_times.jsonl"
UNSEEN = Path(__file__).parents[1] / "recordings" / "reminder_times_unseen.jsonl"
BERLIN = ZoneInfo("Europe/Berlin")
TUESDAY_AT_TEN = datetime(2026, 12, 1, 10, tzinfo=BERLIN)


def table(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read(words: str, language: str = "en-US", now: datetime = TUESDAY_AT_TEN) -> str:
    """Return the local time with its repetition, or what is asked."""
    try:
        found = moment(words, now, language)
    except Unclear as unclear:
        return f"ask {unclear.what.name.lower()}"
    again = "" if found.repeat is Repeat.NONE else f" {found.repeat.value}"
    return f"{found.at:%Y-%m-%dT%H:%M}{again}"


def wanted(row: dict[str, Any]) -> str:
    if "ask" in row:
        return f"ask {row['ask']}"
    return str(row["at"]) + (f" {row['repeat']}" if "repeat" in row else "")


@pytest.mark.parametrize("row", table(TABLE), ids=lambda row: f"{row['language']}: {row['when']}")
def test_a_phrase_of_the_table_means_what_its_speaker_means(row: dict[str, Any]) -> None:
    assert read(row["when"], row["language"]) == wanted(row)


def test_the_table_has_phrases_of_every_language() -> None:
    rows = table(TABLE)
    assert len(rows) >= 100
    assert all(sum(row["language"] == language for row in rows) >= 10 for language in LANGUAGES)


def test_phrases_that_no_rule_was_written_for_are_read_or_asked_about_but_seldom_wrong() -> None:
    rows = table(UNSEEN)
    right = [row for row in rows if read(row["when"], row["language"]) == wanted(row)]
    wrong = [row for row in rows if row not in right and not read(row["when"], row["language"]).startswith("ask")]
    assert len(right) >= 0.85 * len(rows)
    assert len(wrong) <= 0.05 * len(rows)


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        ("Asia/Shanghai", "2026-12-02T09:00+08:00", "2026-12-02T01:00+00:00"),
        ("America/Sao_Paulo", "2026-12-01T09:00-03:00", "2026-12-01T12:00+00:00"),
    ],
)
def test_tomorrow_is_counted_from_the_users_date_and_not_from_the_servers(zone: str, local: str, utc: str) -> None:
    """Case B1."""
    now = datetime(2026, 11, 30, 23, 30, tzinfo=UTC).astimezone(ZoneInfo(zone))
    found = moment("tomorrow at 9", now, "en-US").at
    assert found.isoformat(timespec="minutes") == local
    assert found.astimezone(UTC).isoformat(timespec="minutes") == utc


def test_a_time_to_the_second_is_kept() -> None:
    assert moment("2026-12-05T09:30:07Z", TUESDAY_AT_TEN, "en-US").at.isoformat() == "2026-12-05T10:30:07+01:00"


def test_every_zone_gets_its_own_tomorrow() -> None:
    """Case B1, its whole kind."""
    for hour in range(24):
        at = datetime(2026, 11, 30, hour, 30, tzinfo=UTC)
        for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu", "America/St_Johns", "UTC"):
            now = at.astimezone(ZoneInfo(zone))
            found = moment("tomorrow at 9", now, "en-US").at
            assert found.date() == now.date() + timedelta(days=1)
            assert (found.hour, found.minute) == (9, 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_that_a_model_put_into_english_are_read_in_every_language(language: str) -> None:
    assert read("tomorrow at 9 am", language) == "2026-12-02T09:00"
    assert read("in 20 minutes", language) == "2026-12-01T10:20"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("2026-12-05T09:30", "2026-12-05T09:30"),
        ("2026-12-05 09:30", "2026-12-05T09:30"),
        ("2026-12-05T09:30:00Z", "2026-12-05T10:30"),
        ("2026-12-05T09:30:00.000+09:00", "2026-12-05T01:30"),
        ("2026-11-05T09:30", "ask past"),
        ("2026-13-05T09:30", "ask all"),
        ("9999-12-31T23:59", "9999-12-31T23:59"),
    ],
)
def test_a_time_as_programs_write_it_is_taken_as_it_is(words: str, meant: str) -> None:
    assert read(words) == meant


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("", Open.ALL),
        ("soon", Open.ALL),
        ("when I am home", Open.ALL),
        ("on Friday", Open.TIME),
        ("every day", Open.TIME),
        ("tomorrow at 5", Open.HALF),
        ("every day at 6", Open.HALF),
        ("next week at 9", Open.DAY),
        ("today at 9 am", Open.PAST),
        ("yesterday at noon", Open.PAST),
        ("every 2 hours", Open.REPEAT),
        ("every month at 9", Open.REPEAT),
        ("every Monday and Friday at 9", Open.REPEAT),
        ("February 30 at 9", Open.DAY),
        ("in 99999999 weeks", Open.DAY),
        ("9" * 5000, Open.ALL),
    ],
)
def test_what_is_left_open_is_asked_and_not_guessed(words: str, asked: Open) -> None:
    with pytest.raises(Unclear) as unclear:
        moment(words, TUESDAY_AT_TEN, "en-US")
    assert unclear.value.what is asked


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("on Tuesday at 9", "2026-12-08T09:00"),
        ("on Tuesday at 11 am", "2026-12-01T11:00"),
        ("at 9", "2026-12-01T21:00"),
        ("at 9 am", "2026-12-02T09:00"),
        ("tonight at midnight", "2026-12-02T00:00"),
        ("tonight at 1", "2026-12-02T01:00"),
        ("at 12 pm", "2026-12-01T12:00"),
        ("at 12 am", "2026-12-02T00:00"),
        ("on January 2 at 10 am", "2027-01-02T10:00"),
        ("on the 24th at 6 pm", "2026-12-24T18:00"),
        ("in 2 hours and 15 minutes", "2026-12-01T12:15"),
        ("in 2 weeks", "2026-12-15T10:00"),
        ("12/24 at 6 pm", "2026-12-24T18:00"),
    ],
)
def test_times_near_the_present_are_the_next_that_fit(words: str, meant: str) -> None:
    assert read(words) == meant


def test_what_a_clock_change_leaves_out_is_as_much_later_and_what_comes_twice_is_the_first() -> None:
    before = datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    assert at_wall_time(datetime(2027, 3, 28, 2, 30), before).isoformat() == "2027-03-28T03:30:00+02:00"
    before = datetime(2027, 10, 30, 12, tzinfo=BERLIN)
    assert at_wall_time(datetime(2027, 10, 31, 2, 30), before).isoformat() == "2027-10-31T02:30:00+02:00"


def test_nine_in_the_morning_stays_nine_over_a_clock_change() -> None:
    now = datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    found = moment("tomorrow at 9", now, "en-US").at
    assert found.isoformat() == "2027-03-28T09:00:00+02:00"
    assert found.astimezone(UTC) - now.astimezone(UTC) == timedelta(hours=20)
    assert moment("in 24 hours", now, "en-US").at.isoformat() == "2027-03-28T13:00:00+02:00"


def test_a_series_keeps_its_wall_time_over_a_year_of_clock_changes() -> None:
    wall, at = datetime(2027, 1, 1, 2, 30), datetime(2027, 1, 1, 2, 30, tzinfo=BERLIN)
    times = []
    for _ in range(365):
        at = next_time(at, Repeat.DAILY, wall)
        times.append(at)
    assert [time.date() for time in times] == [at.date() - timedelta(days=days) for days in range(364, -1, -1)]
    assert [f"{time:%m-%d %H:%M}" for time in times if (time.hour, time.minute) != (2, 30)] == ["03-28 03:30"]


@given(
    st.datetimes(min_value=datetime(2026, 1, 1), max_value=datetime(2040, 1, 1)),
    st.sampled_from([Repeat.DAILY, Repeat.WEEKDAYS, Repeat.WEEKLY]),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata"]),
    st.times(),
)
def test_the_next_time_is_later_and_on_a_fitting_day(now: datetime, repeat: Repeat, zone: str, hour: Any) -> None:
    after = now.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
    wall = datetime.combine(datetime(2026, 1, 5), hour)
    found = next_time(after, repeat, wall)
    assert after < found <= after + timedelta(days=8)
    if repeat is Repeat.WEEKDAYS:
        assert found.weekday() < 5
    if repeat is Repeat.WEEKLY:
        assert found.weekday() == 0


@given(st.text(max_size=60), st.sampled_from(list(LANGUAGES)))
def test_no_words_at_all_break_the_reader(words: str, language: str) -> None:
    assert read(words, language) > "2026-12-01T10:00"


@given(
    st.lists(
        st.sampled_from(
            [
                "tomorrow",
                "at",
                "9",
                "12",
                "every",
                "on",
                "Friday",
                "next",
                "week",
                "half",
                "past",
                "to",
                "31",
                "13:60",
                "/2",
                "every",
                "day",
                "in",
                "minutes",
                "明天",
                "三十",
                "点",
                "半",
                "后",
            ]
        ),
        max_size=7,
    ).map(" ".join),
    st.sampled_from(list(LANGUAGES)),
)
def test_no_mix_of_its_own_words_breaks_the_reader(words: str, language: str) -> None:
    assert read(words, language) > "2026-12-01T10:00"
