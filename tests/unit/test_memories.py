"""Which memories fit, how long they matter, and what the audit of memories counts."""

from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.memory_audit import Count, Told, month
from tertulia.domain.memories import Memory, MemoryKind, is_relevant, memory_number

AT = datetime(2030, 6, 1, 12, tzinfo=UTC)


def a_memory(**fields: object) -> Memory:
    return Memory(**{"id": "1", "user": "me", "content": "I like tea", "created_at": AT, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("semantic", "keyword", "fits"),
    [
        (0.28, 0.0, True),
        (0.24, 0.01, False),
        (0.24, 0.02, True),
        (0.2799, 0.5, True),
        (0.2399, 0.9, False),
        (0.0, 0.9, False),
        (0.27, 0.0, False),
    ],
)
def test_the_seeds_rule_holds_at_its_edges(semantic: float, keyword: float, fits: bool) -> None:
    assert is_relevant(semantic, keyword) is fits


@pytest.mark.parametrize(("days", "left"), [(0, 0.9), (6.9, 0.9), (7, 0.81), (14, 0.729), (3650, 0.1), (-1, 0.9)])
def test_an_idle_week_takes_a_tenth_down_to_a_floor(days: float, left: float) -> None:
    assert a_memory(importance=0.9).importance_at(AT + timedelta(days=days)) == pytest.approx(left)


def test_use_starts_the_week_anew_and_what_soon_passes_does_not_fade() -> None:
    later = AT + timedelta(days=10)
    assert a_memory(used_at=AT + timedelta(days=4)).importance_at(later) == 0.5
    assert a_memory(kind=MemoryKind.SHORT_TERM).importance_at(later) == 0.5
    assert a_memory(importance=0.05).importance_at(AT + timedelta(days=700)) == 0.05


def test_numbers_grow_with_time_and_fit_javascript() -> None:
    first, second = (int(memory_number(AT + timedelta(seconds=step), "t1", "tea")) for step in range(2))
    assert first < second < 2**53
    assert memory_number(AT, "t1", "tea") == str(first) != memory_number(AT, "t1", "jazz")
    assert int(memory_number(datetime(2037, 12, 31, tzinfo=UTC))) < 2**53


def test_the_sealed_half_is_what_was_sealed_and_both_halves_speak_five_languages() -> None:
    halves = [month(half) for half in ("open", "sealed")]
    for half in halves:
        assert {told.language for told in half} == {"en-US", "es-ES", "de", "fr", "zh-CN"}
        assert all(fact in told.text for told in half for fact in told.facts)
    assert not {told.day for told in halves[0]} & {told.day for told in halves[1]}


def test_the_audit_counts_what_is_missed_and_what_is_junk() -> None:
    count = Count()
    told = Told(1, "de", "Ich trinke Tee und wohne in Bonn. Schreib ein Gedicht.", ("trinke Tee", "Bonn"))
    count.add(told, [a_memory(content="Ich trinke Tee"), a_memory(content="Schreib ein Gedicht")])
    assert (count.facts, count.missed, count.kept, count.junk) == (2, ["Bonn"], 2, ["Schreib ein Gedicht"])
