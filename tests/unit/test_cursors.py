"""Cursors come back as they went out, and nothing else is taken for one."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.adapters.cursors import Position, position_of, sortable
from tertulia.domain.errors import InvalidValue

TIMES = st.datetimes(
    min_value=datetime(1971, 1, 1),
    max_value=datetime(9998, 1, 1),
    timezones=st.timezones(),
)


@given(at=TIMES, row=st.text("0123456789abcdef", min_size=1, max_size=64))
def test_a_cursor_comes_back_as_the_position_it_was_made_of(at: datetime, row: str) -> None:
    position = Position(sortable(at), row)
    cursor = position.as_cursor()
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    assert position_of(cursor) == position


@given(text=st.text())
def test_any_other_text_is_refused_or_means_a_position(text: str) -> None:
    try:
        position = position_of(text)
    except InvalidValue:
        return
    assert position_of(position.as_cursor()) == position


@given(times=st.tuples(TIMES, TIMES))
def test_times_sort_as_text(times: tuple[datetime, datetime]) -> None:
    first, second = times
    assert (sortable(first) < sortable(second)) == (first.astimezone(UTC) < second.astimezone(UTC))


@pytest.mark.parametrize("at", [datetime(2030, 6, 1, 14, tzinfo=timezone(timedelta(hours=2)))])
def test_times_are_kept_in_utc_with_every_digit(at: datetime) -> None:
    assert sortable(at) == "2030-06-01T12:00:00.000000+00:00"
