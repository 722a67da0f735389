"""Titles, overviews and action items are kept short, whatever a model writes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.summaries import ActionItem, Digest, short_overview, short_title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("**Dinner without peanuts**", "Dinner without peanuts"),
        ('"Train to Porto."\nMore text', "Train to Porto"),
        ("one two three four five six seven eight nine ten", "one two three four five six seven eight"),
        ("\n\n# Urlaub in Köln", "Urlaub in Köln"),
        (
            "今天讨论了部署方案和回滚步骤以及所有相关的后续工作安排和人员",
            "今天讨论了部署方案和回滚步骤以及所有相关的后续工",
        ),
        ("", ""),
    ],
)
def test_a_title_has_at_most_eight_words(written: str, title: str) -> None:
    assert short_title(written) == title


@given(st.text(max_size=3000))
def test_titles_and_overviews_never_grow_too_long(written: str) -> None:
    assert len(short_title(written)) <= 80
    assert len(short_title(written).split()) <= 8
    assert len(short_overview(written)) <= 1_201


def test_what_the_user_ticked_off_stays_ticked_off() -> None:
    tickets, call = ActionItem.of("Buy tickets", "Friday"), ActionItem.of("Call Ana")
    before = (replace(tickets, done=True), call)
    after = Digest(title="t", overview="o", action_items=(ActionItem.of("buy  tickets"), call, call))
    assert [(item.text, item.done) for item in after.keeping_what_is_done(before).action_items] == [
        ("buy tickets", True),
        ("Call Ana", False),
    ]
