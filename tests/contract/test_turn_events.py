"""What every store of turn events promises."""

import math
from datetime import UTC, datetime

import pytest

from tertulia.domain.errors import NotFound
from tertulia.domain.replies import (
    ConfirmationAsked,
    Done,
    Failed,
    MemoriesUsed,
    Numbered,
    Receipt,
    ReplyEvent,
    RouteChosen,
    Spoke,
    Token,
    ToolCalled,
    ToolReturned,
    Transcribed,
    Waiting,
)
from tertulia.domain.surfaces import Route, RouteReason
from tertulia.ports import TurnEvents
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import done, failed, tokens

EVERY_KIND: tuple[ReplyEvent, ...] = (
    Waiting(ahead=2),
    Transcribed(text="部署", language="zh-CN"),
    RouteChosen(route=Route.CONTEXT, reason=RouteReason.KEYWORD, turn_id="t1", conversation_id="c1"),
    MemoriesUsed(ids=("m1", "m2")),
    ToolCalled(tool="calculator", arguments={"expression": "1/3", "big": 12345678901234567890}, call_id="c"),
    ToolReturned(tool="calculator", ok=True, summary="0.33", ms=3, call_id="c", result="0.3333"),
    ConfirmationAsked(
        confirmation_id="k", tool="mail", arguments={}, question="Send?", expires_at=datetime(2030, 6, 1, tzinfo=UTC)
    ),
    Token(text="a \x00 😀"),
    Spoke(seq=1, text="Hi.", audio=b"", duration_ms=900),
    Done(
        response="a",
        conversation_id="c1",
        turn_id="t1",
        route=Route.CONTEXT,
        receipt=Receipt(stages={"total": 9}, audio_seconds=0.5),
    ),
    Failed(code="model_busy", message="Busy.", retry_after=2.5),
)


@pytest.fixture
async def events(stores: Stores) -> TurnEvents:
    await stores.events.begin("me", "t1")
    return stores.events


async def test_a_turn_that_began_has_no_events_yet(events: TurnEvents) -> None:
    assert await events.read("me", "t1") == []


async def test_events_come_back_in_order_whatever_their_kind(events: TurnEvents) -> None:
    written = [Numbered(number, event) for number, event in enumerate(EVERY_KIND, start=1)]
    await events.write("t1", written[:4])
    await events.write("t1", written[4:5])
    await events.write("t1", written[5:])
    assert await events.read("me", "t1") == written


async def test_a_reader_goes_on_after_any_number(events: TurnEvents) -> None:
    written = tokens("a", "b", "c", "d", "e")
    await events.write("t1", written[:3])
    await events.write("t1", written[3:])
    for after in range(6):
        assert await events.read("me", "t1", after) == written[after:]


async def test_many_batches_keep_the_order_of_numbers(events: TurnEvents) -> None:
    for number in range(1, 31):
        await events.write("t1", tokens(str(number), first=number))
    assert [each.number for each in await events.read("me", "t1", 8)] == list(range(9, 31))


async def test_a_batch_written_twice_is_there_once(events: TurnEvents) -> None:
    await events.write("t1", tokens("a", "b"))
    await events.write("t1", tokens("a", "b"))
    assert await events.read("me", "t1") == tokens("a", "b")


async def test_nothing_to_write_is_fine(events: TurnEvents) -> None:
    await events.write("t1", [])
    assert await events.read("me", "t1") == []


async def test_speech_is_kept_without_its_sound(events: TurnEvents) -> None:
    await events.write("t1", [Numbered(1, Spoke(seq=1, text="Hi.", audio=b"RIFF...", duration_ms=900))])
    assert await events.read("me", "t1") == [Numbered(1, Spoke(seq=1, text="Hi.", audio=b"", duration_ms=900))]


async def test_what_is_no_number_becomes_null(events: TurnEvents) -> None:
    await events.write("t1", [Numbered(1, ToolCalled(tool="t", arguments={"n": math.nan, "s": "\ud800"}))])
    assert await events.read("me", "t1") == [Numbered(1, ToolCalled(tool="t", arguments={"n": None, "s": "?"}))]


async def test_a_batch_larger_than_an_item_is_kept_whole(events: TurnEvents) -> None:
    written = tokens(*("部" * 50_000 for _ in range(4)))
    await events.write("t1", written)
    await events.write("t1", [done(5)])
    assert await events.read("me", "t1") == [*written, done(5)]


async def test_unknown_turns_and_those_of_other_users_look_the_same(events: TurnEvents) -> None:
    await events.write("t1", tokens("secret"))
    for user, turn_id in (("you", "t1"), ("me", "t2"), ("you", "t2")):
        with pytest.raises(NotFound):
            await events.read(user, turn_id)
        with pytest.raises(NotFound):
            await events.ask_to_stop(user, turn_id)
    assert not await events.is_asked_to_stop("t1")


async def test_nobody_begins_another_users_turn(events: TurnEvents) -> None:
    with pytest.raises(NotFound):
        await events.begin("you", "t1")
    assert await events.read("me", "t1") == []


async def test_the_wish_to_stop_reaches_whoever_asks(events: TurnEvents) -> None:
    assert not await events.is_asked_to_stop("t1")
    await events.ask_to_stop("me", "t1")
    await events.ask_to_stop("me", "t1")
    assert await events.is_asked_to_stop("t1")
    assert not await events.is_asked_to_stop("t2")


async def test_a_turn_begun_again_starts_afresh(events: TurnEvents) -> None:
    await events.write("t1", [*tokens("a"), failed(2)])
    await events.ask_to_stop("me", "t1")
    await events.begin("me", "t1")
    assert await events.read("me", "t1") == []
    assert not await events.is_asked_to_stop("t1")


@pytest.mark.parametrize("last", [done(2), failed(2)])
async def test_events_can_be_read_for_an_hour_after_the_end(
    events: TurnEvents, clock: FakeClock, last: Numbered
) -> None:
    clock.move(hours=2)
    await events.write("t1", [*tokens("a"), last])
    clock.move(minutes=59)
    assert await events.read("me", "t1") == [*tokens("a"), last]
    clock.move(minutes=1)
    with pytest.raises(NotFound):
        await events.read("me", "t1")
    with pytest.raises(NotFound):
        await events.ask_to_stop("me", "t1")


async def test_a_turn_that_never_ends_is_forgotten_after_a_day(events: TurnEvents, clock: FakeClock) -> None:
    clock.move(hours=23)
    assert await events.read("me", "t1") == []
    clock.move(hours=1)
    with pytest.raises(NotFound):
        await events.read("me", "t1")


async def test_events_after_a_deletion_bring_no_turn_back(stores: Stores, events: TurnEvents) -> None:
    await events.write("unknown", tokens("a"))
    with pytest.raises(NotFound):
        await events.read("me", "unknown")
