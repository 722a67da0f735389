"""Reminders by tools, by the timer of a machine, and over restarts."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tertulia.assistant import Assistant
from tertulia.domain.errors import Unavailable
from tertulia.domain.prompts import ToolResult
from tertulia.domain.reminders import Reminder, Repeat
from tertulia.domain.replies import Done
from tertulia.domain.user_events import UserEvent
from tertulia.entrypoints.reach import Ask, InProcess
from tertulia.ports import ToolContext
from tertulia.usecases.reminder_timer import ReminderTimer, Timer
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.turns import done_of, request

SHANGHAI = ToolContext(user="user-1", language="en-US", timezone="Asia/Shanghai")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(at=datetime(2026, 11, 30, 23, 30, tzinfo=UTC))


@pytest.fixture
def assistant(make_assistant: MakeAssistant, clock: FakeClock) -> Assistant:
    return make_assistant(clock=clock)


async def used(assistant: Assistant, tool: str, context: ToolContext = SHANGHAI, **arguments: Any) -> ToolResult:
    found = next(each for each in assistant.tools if each.spec.name == tool)
    return await found(arguments, context)


async def told(assistant: Assistant) -> list[dict[str, Any]]:
    return [dict(each.event.data) for each in await assistant.user_events.read("user-1", 0)]


async def test_the_tool_sets_a_reminder_where_the_user_is_and_says_when(assistant: Assistant) -> None:
    """Case B1."""
    result = await used(assistant, "remind_me", text="call Ben", when="tomorrow at 9")
    assert result.ok
    assert result.text == "The reminder is set: call Ben (Wednesday, 2 December 2026, 09:00 Asia/Shanghai)"
    assert result.data["due_at"] == "2026-12-02T01:00:00+00:00"


@pytest.mark.parametrize(
    ("when", "asked"), [("tomorrow", "at what time"), ("tomorrow at 5", "morning"), ("", "when"), ("at 7:60", "when")]
)
async def test_the_tool_asks_where_the_time_is_open_and_sets_nothing(
    assistant: Assistant, when: str, asked: str
) -> None:
    result = await used(assistant, "remind_me", text="call Ben", when=when)
    assert not result.ok
    assert asked in result.text
    assert await assistant.reminders.open("user-1") == []


@pytest.mark.parametrize("arguments", [{}, {"text": 3, "when": ["x"]}, {"text": "", "when": "in 1 hour"}])
async def test_arguments_of_any_kind_are_answered_in_words(assistant: Assistant, arguments: dict[str, Any]) -> None:
    for tool in ("remind_me", "cancel_reminder", "snooze_reminder"):
        assert not (await used(assistant, tool, **arguments)).ok


async def test_a_zone_that_nobody_knows_is_utc_and_the_answer_says_so(assistant: Assistant) -> None:
    lost = replace(SHANGHAI, timezone="Mars/Base")
    result = await used(assistant, "remind_me", lost, text="call Ben", when="tomorrow at 9")
    assert result.text.endswith("(Tuesday, 1 December 2026, 09:00 UTC)")


async def test_a_canceled_reminder_comes_back_by_its_undo(assistant: Assistant) -> None:
    made = await used(assistant, "remind_me", text="call Ben", when="in 1 hour")
    canceled = await used(assistant, "cancel_reminder", reminder="Ben")
    assert await assistant.reminders.open("user-1") == []
    assert canceled.undo
    back = await used(assistant, canceled.undo.tool, **canceled.undo.arguments)
    assert back.ok
    assert [each.id for each in await assistant.reminders.open("user-1")] == [made.data["id"]]
    assert back.undo
    assert (await used(assistant, back.undo.tool, **back.undo.arguments)).ok
    assert await assistant.reminders.open("user-1") == []


async def test_of_several_that_may_be_meant_none_is_changed(assistant: Assistant) -> None:
    for text in ("call Ben", "write Ben", "buy milk"):
        await used(assistant, "remind_me", text=text, when="in 1 hour")
    for tool, word in (("cancel_reminder", "Ben"), ("snooze_reminder", "Ben"), ("cancel_reminder", "Be")):
        assert not (await used(assistant, tool, reminder=word)).ok
    assert len(await assistant.reminders.open("user-1")) == 3
    listed = await used(assistant, "list_reminders")
    assert listed.text.count("\n") == 2
    assert (await used(assistant, "list_reminders", replace(SHANGHAI, user="ben"))).data == {"reminders": []}


async def test_what_rang_is_put_off_without_naming_it(assistant: Assistant, clock: FakeClock) -> None:
    await used(assistant, "remind_me", text="call Ben", when="in 1 hour")
    await used(assistant, "remind_me", text="buy milk", when="in 3 hours")
    clock.move(hours=1)
    await assistant.reminder_timer.ring_due()
    result = await used(assistant, "snooze_reminder")
    assert result.data["text"] == "call Ben"
    assert result.data["due_at"] == "2026-12-01T00:40:00+00:00"
    clock.move(minutes=10)
    await assistant.reminder_timer.ring_due()
    assert (await used(assistant, "snooze_reminder", done=True)).data["state"] == "done"


async def test_a_reminder_rings_once_though_many_timers_and_processes_look(
    assistant: Assistant, make_assistant: MakeAssistant, clock: FakeClock
) -> None:
    await used(assistant, "remind_me", text="call Ben", when="in 1 hour")
    clock.move(hours=1)
    others = [assistant, *(make_assistant(clock=clock) for _ in range(3))]
    await asyncio.gather(*(each.reminder_timer.ring_due() for each in others for _ in range(3)))
    assert len(await told(assistant)) == 1


async def test_a_process_that_ends_between_telling_and_noting_tells_once(
    assistant: Assistant, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await used(assistant, "remind_me", text="call Ben", when="in 1 hour")
    clock.move(hours=1)

    async def ended(_: Reminder) -> None:
        raise Unavailable

    with monkeypatch.context() as broken:
        broken.setattr(assistant.reminder_store, "save", ended)
        assert await assistant.reminder_timer.ring_due() == 0
    assert await assistant.reminder_timer.ring_due() == 1
    assert len(await told(assistant)) == 1


async def test_what_came_due_while_nothing_ran_rings_after_the_restart_and_says_so(
    assistant: Assistant, make_assistant: MakeAssistant, clock: FakeClock
) -> None:
    await used(assistant, "remind_me", text="call Ben", when="in 1 hour")
    await assistant.close()
    clock.move(hours=5)
    restarted = make_assistant(clock=clock)
    assert await restarted.reminder_timer.ring_due() == 1
    [event] = await told(restarted)
    assert event["missed"]
    assert event["due_at"] == "2026-12-01T00:30:00+00:00"


async def test_a_series_missed_for_days_rings_once_for_the_last_time_and_goes_on(
    assistant: Assistant, clock: FakeClock
) -> None:
    await used(assistant, "remind_me", text="stretch", when="every day at 9")
    clock.move(days=4)
    assert await assistant.reminder_timer.ring_due() == 1
    [event] = await told(assistant)
    assert event["due_at"] == "2026-12-04T01:00:00+00:00"
    [kept] = await assistant.reminders.open("user-1")
    assert kept.next_at == datetime(2026, 12, 5, 1, tzinfo=UTC)


async def test_the_timer_rings_at_the_time_and_is_woken_by_a_new_reminder(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    running = asyncio.create_task(assistant.reminder_timer.run())
    await asyncio.sleep(0.05)
    now = assistant.clock.now()
    soon = Reminder(
        id="0" * 16,
        user="user-1",
        text="now",
        timezone="UTC",
        wall=now.replace(tzinfo=None),
        created_at=now,
        next_at=now + timedelta(seconds=0.2),
    )
    await assistant.reminder_store.add(soon)
    await assistant.alarms.set(soon)
    async with asyncio.timeout(5):
        async for event in assistant.user_stream.follow("user-1", 0):
            assert event.event.data["id"] == soon.id
            break
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_store_that_fails_does_not_end_the_timer(assistant: Assistant, clock: FakeClock) -> None:
    class Failing:
        calls = 0

        async def due(self, now: datetime) -> list[Reminder]:
            self.calls += 1
            raise Unavailable

        async def next_due(self) -> datetime | None:
            return None

    store, bell = Failing(), Timer()
    running = asyncio.create_task(ReminderTimer(store, assistant.ring, bell, clock).run())
    for _ in range(3):
        await asyncio.sleep(0.01)
        bell.changed.set()
    await asyncio.sleep(0.01)
    assert not running.done()
    assert store.calls >= 3
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_turn_is_answered_though_reminders_cannot_be_read(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(_: str) -> list[Reminder]:
        raise Unavailable

    monkeypatch.setattr(assistant.reminder_store, "to_be_told", failing)
    done = await done_of(assistant, request("hi"))
    assert done.response == "Hello there."
    assert "reminders" in done.receipt.degraded


async def test_a_page_that_names_a_number_of_the_future_hears_what_comes(assistant: Assistant) -> None:
    await assistant.user_stream.publish("user-1", UserEvent(name="turn", data={"n": 1}))
    stream = assistant.user_stream.follow("user-1", 2**52)
    waiting = asyncio.create_task(anext(stream))
    await asyncio.sleep(0.05)
    await assistant.user_stream.publish("user-1", UserEvent(name="turn", data={"n": 2}))
    assert (await waiting).event.data == {"n": 2}
    await stream.aclose()


async def test_a_turn_at_the_command_line_without_a_server_begins_with_what_is_due(
    assistant: Assistant, clock: FakeClock
) -> None:
    await used(assistant, "remind_me", text="call Ben", when="in 1 hour")
    clock.move(hours=1)
    events = [event async for event in InProcess(assistant).turn(Ask(text="hi", language="en-US"))]
    assert isinstance(events[-1], Done)
    assert events[-1].response == "Reminder for 08:30: call Ben. Hello there."


def test_putting_a_series_off_leaves_out_what_comes_before() -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    series = Reminder(
        id="0" * 16,
        user="ana",
        text="x",
        timezone="UTC",
        wall=datetime(2026, 12, 1, 9),
        repeat=Repeat.DAILY,
        created_at=now,
        next_at=datetime(2026, 12, 1, 9, tzinfo=UTC),
    )
    off = series.snoozed(datetime(2026, 12, 2, 12, tzinfo=UTC), now)
    assert off.due_at == datetime(2026, 12, 2, 12, tzinfo=UTC)
    assert off.rung(datetime(2026, 12, 2, 12, tzinfo=UTC)).due_at == datetime(2026, 12, 3, 9, tzinfo=UTC)
