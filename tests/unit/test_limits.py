"""How much a user may ask for: refused before anything is begun, waiting for a place, and what a day may cost."""

import asyncio
from datetime import date

import pytest

from tertulia.assistant import Assistant
from tertulia.domain.accounts import UserSettings
from tertulia.domain.audio import HearingOutcome
from tertulia.domain.errors import ModelMissing, RateLimited, Unavailable
from tertulia.domain.prices import Price, PriceTable
from tertulia.domain.replies import Done, Failed, Token
from tertulia.domain.surfaces import SCREEN
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedModel, ScriptedTranscriber
from tests.turns import USER, done_of, events_of, failure_of, request

DAY = date(2030, 6, 1)
GUEST = "guest"
"""Anybody but the one user of a machine, who is not slowed down."""


@pytest.fixture(autouse=True)
def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an answer cost some microdollars."""
    costs = {"scripted": Price(tokens_out=100_000_000), "scripted-ear": Price(audio_hour=3_600_000_000)}
    monkeypatch.setattr(Settings, "prices", property(lambda _: PriceTable(costs)))


def limited(settings: Settings, **changes: object) -> Settings:
    return settings.model_copy(update=changes)


async def test_the_one_user_of_a_machine_is_not_slowed_down(make_assistant: MakeAssistant, settings: Settings) -> None:
    assistant = make_assistant(limited(settings, turns_a_minute=1))
    for _ in range(3):
        await done_of(assistant, request("Hi"))


async def test_a_refused_turn_asks_no_model_and_leaves_no_claim_behind(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    model, clock = ScriptedModel(), FakeClock()
    assistant = make_assistant(limited(settings, turns_a_minute=1), chat_model=model, clock=clock)
    await done_of(assistant, request("Hi", user=GUEST))
    with pytest.raises(
        RateLimited, match=r"At most 1 questions a minute are answered\. Try again in 60 seconds"
    ) as told:
        await assistant.turns.take(request("Again", user=GUEST, client_message_id="k"))
    assert told.value.retry_after == pytest.approx(60)
    assert len(model.prompts) == 1
    assert await assistant.claims.find(GUEST, "k") is None
    clock.move(seconds=60)
    await done_of(assistant, request("Other words", user=GUEST, client_message_id="k"))


async def test_a_repeated_message_counts_once_and_is_answered_when_the_limit_is_reached(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    assistant = make_assistant(limited(settings, turns_a_minute=2), chat_model=ScriptedModel(seconds_a_token=0.02))
    tap = [request("Hi", user=GUEST, client_message_id="tap") for _ in range(3)]
    first, second = await asyncio.gather(*(done_of(assistant, one) for one in tap[:2]))
    await done_of(assistant, request("More", user=GUEST))
    assert (await done_of(assistant, tap[2])).turn_id == first.turn_id == second.turn_id
    with pytest.raises(RateLimited):
        await assistant.turns.take(request("Too much", user=GUEST))


async def test_a_device_and_the_screen_have_rates_of_their_own(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    assistant = make_assistant(limited(settings, device_turns_a_minute=2, generations_a_minute=1))
    for _ in range(2):
        await done_of(assistant, request("Hi", user=GUEST, device_id="clip"))
    with pytest.raises(RateLimited):
        await assistant.turns.take(request("Hi", user=GUEST, device_id="clip"))
    await done_of(assistant, request("Hi", user=GUEST, device_id="other"))
    await done_of(assistant, request("Hi", user=GUEST, surface=SCREEN))
    with pytest.raises(RateLimited):
        await assistant.turns.take(request("Hi", user=GUEST, surface=SCREEN))
    await done_of(assistant, request("Hi", user=GUEST))


def two_processes(make_assistant: MakeAssistant, settings: Settings, model: ScriptedModel) -> list[Assistant]:
    return [make_assistant(settings, chat_model=model) for _ in range(2)]


async def test_running_turns_are_counted_over_processes_and_more_wait(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    model = ScriptedModel(seconds_a_token=0.2)
    here, there = two_processes(make_assistant, limited(settings, running_turns=2), model)
    first = [await here.turns.take(request(f"{place}", user=GUEST)) for place in range(2)]
    await asyncio.sleep(0.2)
    late = await there.turns.take(request("late", user=GUEST))
    await asyncio.sleep(0.2)
    assert len(model.prompts) == 2
    ended = [[numbered.event async for numbered in turn.events()][-1] for turn in (*first, late)]
    assert all(isinstance(event, Done) for event in ended)
    assert len(model.prompts) == 3


async def test_a_place_that_never_becomes_free_is_told_and_nothing_is_kept(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    clock, model = FakeClock(), ScriptedModel()
    assistant = make_assistant(limited(settings, running_turns=1), chat_model=model, clock=clock)
    await assistant.rates.hit(GUEST, "running", 1, 150, "a turn whose process died")
    asked = request("Hi", user=GUEST, client_message_id="k")
    told = await failure_of(assistant, asked)
    assert (told.code, told.retry_after) == ("rate_limited", 5)
    assert await assistant.claims.find(GUEST, "k") is None
    assert await assistant.conversations.find_turn(GUEST, asked.turn_id) is None
    assert model.prompts == []
    clock.move(seconds=150)
    await done_of(assistant, asked)


async def test_a_device_has_two_turns_at_once(make_assistant: MakeAssistant, settings: Settings) -> None:
    model = ScriptedModel(seconds_a_token=0.2)
    assistant = make_assistant(settings, chat_model=model)
    turns = [await assistant.turns.take(request(f"{place}", user=GUEST, device_id="clip")) for place in range(3)]
    await asyncio.sleep(0.4)
    assert len(model.prompts) == 2
    for turn in turns:
        assert isinstance([numbered.event async for numbered in turn.events()][-1], Done)


async def test_turns_of_other_users_do_not_wait(make_assistant: MakeAssistant, settings: Settings) -> None:
    assistant = make_assistant(limited(settings, running_turns=1), clock=FakeClock())
    await assistant.rates.hit(GUEST, "running", 1, 150, "a turn")
    await done_of(assistant, request("Hi", user="you"))


async def test_each_turn_is_counted_with_what_its_receipt_says(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(clock=FakeClock())
    done = await done_of(assistant, request("Hi"))
    await assistant.turns.close()
    [day] = await assistant.usage.days(USER, DAY)
    assert (day.day, day.used.turns) == (DAY, 1)
    assert day.used.cost_microdollars == done.receipt.cost_microdollars > 0
    assert await assistant.usage.spent(None, DAY) == done.receipt.cost_microdollars


async def test_what_fails_or_is_silence_costs_what_it_costs(make_assistant: MakeAssistant) -> None:
    silent, missing = ScriptedTranscriber(text="", outcome=HearingOutcome.SILENCE), ScriptedModel([[ModelMissing()]])
    assistant = make_assistant(clock=FakeClock(), transcriber=silent, chat_model=missing)
    await events_of(assistant, request("", audio=b"\0" * 64_000))
    await failure_of(assistant, request("Hi"))
    await assistant.turns.close()
    [day] = await assistant.usage.days(USER, DAY)
    assert day.used.turns == 1
    assert day.used.models["scripted-ear"].audio_seconds > 0


async def test_a_day_costs_no_more_than_its_limit_and_the_next_day_is_free(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    clock, model = FakeClock(), ScriptedModel()
    assistant = make_assistant(limited(settings, user_daily_spend_usd=0.01), chat_model=model, clock=clock)
    await assistant.usage.reserve(USER, DAY, 9_999, cap=None)
    assert (await done_of(assistant, request("Hi"))).receipt.cost_microdollars >= 1
    await assistant.turns.close()
    with pytest.raises(
        RateLimited, match=r"Your limit of \$0.01 a day is reached. It is free again at 00:00 UTC"
    ) as told:
        await assistant.turns.take(request("Hi"))
    assert told.value.retry_after == 12 * 3600
    assert len(model.prompts) == 1
    await done_of(assistant, request("Hi", user="you"))
    clock.move(seconds=told.value.retry_after)
    await done_of(assistant, request("Hi"))


async def test_the_deployments_limit_holds_for_everyone(make_assistant: MakeAssistant, settings: Settings) -> None:
    assistant = make_assistant(limited(settings, daily_spend_usd=1.0), clock=FakeClock())
    await assistant.usage.reserve(None, DAY, 1_000_000, cap=None)
    for user in (USER, "you"):
        with pytest.raises(RateLimited, match=r"The assistant's limit of \$1.00 a day"):
            await assistant.turns.take(request("Hi", user=user))
        assert await assistant.usage.spent(user, DAY) == 0


@pytest.mark.parametrize(("wish", "allowed"), [(0, 0), (5_000, 5_000), (50_000, 10_000), (None, 10_000)])
async def test_a_user_may_lower_their_own_limit_and_not_raise_it(
    make_assistant: MakeAssistant, settings: Settings, wish: int | None, allowed: int
) -> None:
    assistant = make_assistant(limited(settings, user_daily_spend_usd=0.01), clock=FakeClock())
    await assistant.users.save_settings(USER, UserSettings(daily_spend_microdollars=wish))
    if allowed:
        await assistant.usage.reserve(USER, DAY, allowed - 1, cap=None)
        await done_of(assistant, request("Hi"))
        await assistant.turns.close()
    with pytest.raises(RateLimited):
        await assistant.turns.take(request("Hi"))


async def test_turns_at_once_near_the_limit_do_not_run_far_over_it(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    model = ScriptedModel(seconds_a_token=0.05)
    assistant = make_assistant(limited(settings, user_daily_spend_usd=1.0), chat_model=model, clock=FakeClock())
    await assistant.usage.reserve(USER, DAY, 985_000, cap=None)
    asked = [request(f"{place}") for place in range(8)]
    ended = await asyncio.gather(*(done_of(assistant, one) for one in asked), return_exceptions=True)
    await assistant.turns.close()
    costs = [done.receipt.cost_microdollars for done in ended if isinstance(done, Done)]
    assert sum(isinstance(each, RateLimited) for each in ended) == 6
    assert len(costs) == len(model.prompts) == 2
    assert await assistant.usage.spent(USER, DAY) == 985_000 + sum(costs) < 1_000_000


async def test_what_was_reserved_for_a_turn_that_never_ran_is_given_back(
    make_assistant: MakeAssistant, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object) -> None:
        raise Unavailable

    assistant = make_assistant(limited(settings, user_daily_spend_usd=1.0), clock=FakeClock())
    monkeypatch.setattr(assistant.claims, "claim", busy)
    with pytest.raises(Unavailable):
        await assistant.turns.take(request("Hi", client_message_id="k"))
    assert await assistant.usage.spent(USER, DAY) == await assistant.usage.spent(None, DAY) == 0


async def test_a_turn_that_cannot_be_counted_is_answered_all_the_same(
    make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def busy(*_: object) -> None:
        raise Unavailable

    assistant = make_assistant()
    monkeypatch.setattr(assistant.usage, "add", busy)
    events = await events_of(assistant, request("Hi"))
    await assistant.turns.close()
    assert any(isinstance(event, Token) for event in events)
    assert not any(isinstance(event, Failed) for event in events)
    assert "could not be counted: unavailable" in caplog.text


async def test_the_cost_of_every_turn_is_told_to_who_measures_it(make_assistant: MakeAssistant) -> None:
    assistant, costs = make_assistant(), list[int]()
    assistant.spending.tell_cost(costs.append)
    done = await done_of(assistant, request("Hi"))
    await assistant.turns.close()
    assert costs == [done.receipt.cost_microdollars]
