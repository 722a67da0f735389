"""What the Lambda service of the tests does as Lambda does it: start, reuse, freeze, kill, report, limit."""

import asyncio
import time

import pytest

from tests.lambdas.host import PayloadTooLarge
from tests.lambdas.runtime_api import MOST_PAYLOAD_BYTES, FunctionFailed
from tests.lambdas.trials import Trial


def test_a_cold_environment_is_used_again_while_it_is_warm(buffered: Trial) -> None:
    first, second = (buffered.invoke("Plain", {}) for _ in range(2))
    assert second["pid"] == first["pid"]
    assert second["calls"] == first["calls"] + 1
    assert second["id"] != first["id"]
    assert 0 < second["left"] <= 2000


def test_calls_at_once_have_environments_of_their_own(buffered: Trial) -> None:
    async def at_once() -> set[bytes]:
        return set(await asyncio.gather(*(buffered.host.invoke("Plain", b'{"sleep": 0.3}') for _ in range(3))))

    assert len(buffered.run(at_once())) == 3
    assert len(buffered.host.workers["Plain"]) >= 3


def test_what_runs_on_after_an_answer_is_frozen(buffered: Trial) -> None:
    before = buffered.invoke("Plain", {})
    time.sleep(0.5)
    after = buffered.invoke("Plain", {})
    assert after["pid"] == before["pid"]
    assert after["ticks"] - before["ticks"] < 25


def test_a_call_that_takes_too_long_is_killed_and_the_next_one_starts_anew(buffered: Trial) -> None:
    before = buffered.invoke("Plain", {})
    with pytest.raises(FunctionFailed, match=r"Task timed out after 2\.00 seconds"):
        buffered.invoke("Plain", {"sleep": 5})
    assert buffered.invoke("Plain", {})["pid"] != before["pid"]


def test_a_process_that_ends_is_told_and_replaced(buffered: Trial) -> None:
    with pytest.raises(FunctionFailed, match="exit status 3") as told:
        buffered.invoke("Plain", {"exit": 3})
    assert told.value.kind == "Runtime.ExitError"
    assert buffered.invoke("Plain", {})["calls"] >= 1


def test_a_failure_is_told_by_its_kind(buffered: Trial) -> None:
    with pytest.raises(FunctionFailed, match="too bad") as told:
        buffered.invoke("Plain", {"fail": "too bad"})
    assert told.value.kind == "ValueError"


def test_a_handler_that_cannot_be_loaded_is_told(buffered: Trial) -> None:
    with pytest.raises(FunctionFailed, match="nothing to load") as told:
        buffered.invoke("Unreadable", {})
    assert told.value.kind == "RuntimeError"


def test_answers_up_to_six_megabytes_pass_and_one_byte_more_does_not(buffered: Trial) -> None:
    assert len(buffered.invoke("Plain", {"answer": MOST_PAYLOAD_BYTES - 2})) == MOST_PAYLOAD_BYTES - 2
    with pytest.raises(FunctionFailed, match="Response payload size exceeded") as told:
        buffered.invoke("Plain", {"answer": MOST_PAYLOAD_BYTES - 1})
    assert told.value.kind == "Function.ResponseSizeTooLarge"


def test_events_over_six_megabytes_do_not_reach_the_function(buffered: Trial) -> None:
    with pytest.raises(PayloadTooLarge):
        buffered.invoke("Plain", {"more": "x" * MOST_PAYLOAD_BYTES})


def test_a_function_from_a_snapshot_asks_to_be_restored_before_its_first_event(buffered: Trial) -> None:
    assert buffered.invoke("Restored", {})["calls"] == 1
    assert [worker.was_restored for worker in buffered.host.workers["Restored"]] == [True]
