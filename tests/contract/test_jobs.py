"""What the queue of follow-ups promises, over all processes that share it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_conversations import SqliteConversations
from tertulia.adapters.embedded.sqlite_jobs import LEASE, SqliteJobs
from tertulia.domain.turns import Turn, turn_number
from tertulia.ports.follow_up import Job, JobKind, JobQueue
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import ME, a_failed_turn, a_turn, begun

TURN_IDS = ("t1", "t2")


@pytest.fixture
async def conversation_id(database: Database, clock: FakeClock) -> str:
    turns = [a_turn(turn_id, place) for place, turn_id in enumerate(TURN_IDS, start=1)]
    return (await begun(SqliteConversations(database, clock), *turns)).id


@pytest.fixture
def queue(database: Database, clock: FakeClock) -> SqliteJobs:
    return SqliteJobs(database, clock)


def jobs(conversation_id: str, clock: FakeClock, turn_ids: Sequence[str] = TURN_IDS, wait: int = 0) -> list[Job]:
    return [
        Job(
            user=ME,
            conversation_id=conversation_id,
            turn_id=turn_id,
            kind=JobKind.MEMORIES,
            due_at=clock.now() + timedelta(seconds=wait + place),
        )
        for place, turn_id in enumerate(turn_ids)
    ]


async def taken(queue: JobQueue) -> list[str]:
    found = []
    while job := await queue.take():
        found.append(job.turn_id)
    return found


async def test_jobs_are_taken_once_they_are_due_the_longest_due_first(
    queue: SqliteJobs, conversation_id: str, clock: FakeClock
) -> None:
    await queue.add(jobs(conversation_id, clock, wait=30)[::-1])
    assert await queue.take() is None
    assert await queue.next_due() == clock.now() + timedelta(seconds=30)
    clock.move(seconds=31)
    assert await taken(queue) == ["t1", "t2"]


async def test_the_same_job_twice_is_one_and_a_finished_one_stays_finished(
    queue: SqliteJobs, conversation_id: str, clock: FakeClock
) -> None:
    [job, _] = jobs(conversation_id, clock)
    await queue.add([job, job])
    await queue.add([job])
    leased = await queue.take()
    assert leased
    await queue.finish(leased)
    await queue.add([job])
    clock.move(days=1)
    assert await taken(queue) == []


async def test_a_job_of_a_process_that_is_gone_is_taken_again_after_its_lease(
    queue: SqliteJobs, conversation_id: str, clock: FakeClock
) -> None:
    await queue.add(jobs(conversation_id, clock)[:1])
    first = await queue.take()
    assert first
    clock.at += LEASE - timedelta(seconds=1)
    assert await queue.take() is None
    clock.move(seconds=2)
    second = await queue.take()
    assert second
    await queue.fail(replace(first, error="model_down"))
    assert await queue.failed() == []
    await queue.finish(second)
    assert await queue.next_due() is None


async def test_several_processes_never_take_the_same_job(
    queue: SqliteJobs, conversation_id: str, clock: FakeClock, tmp_path: Path
) -> None:
    await queue.add(jobs(conversation_id, clock))
    clock.move(seconds=5)
    others = [Database(tmp_path / "data" / "tertulia.db") for _ in range(4)]
    found = await asyncio.gather(*(SqliteJobs(each, clock).take() for each in others))
    assert sorted(job.turn_id for job in found if job) == ["t1", "t2"]
    for each in others:
        await each.close()


async def test_what_failed_is_listed_by_its_code_and_tried_again_on_demand(
    queue: SqliteJobs, conversation_id: str, clock: FakeClock
) -> None:
    await queue.add(jobs(conversation_id, clock)[:1])
    job = await queue.take()
    assert job
    await queue.fail(replace(job, attempts=6, error="model_down"))
    [failure] = await queue.failed()
    assert (failure.turn_id, failure.step, failure.error) == ("t1", "memories", "model_down")
    assert await queue.take() is None
    assert [await queue.retry(turn) for turn in ("t9", "t1", "t1")] == [False, True, False]
    again = await queue.take()
    assert again
    assert (again.attempts, again.error) == (0, "")


async def test_the_jobs_of_a_deleted_conversation_are_gone(
    queue: SqliteJobs, conversation_id: str, clock: FakeClock, database: Database
) -> None:
    await queue.add(jobs(conversation_id, clock))
    store = SqliteConversations(database, clock)
    await store.delete(await store.get(ME, conversation_id))
    await queue.add(jobs(conversation_id, clock))
    assert await queue.next_due() is None


async def test_turns_that_were_never_handed_over_are_found(
    queue: SqliteJobs, database: Database, clock: FakeClock
) -> None:
    def begun_ago(turn: Turn, **time: float) -> Turn:
        return replace(turn, number=turn_number(clock.now() - timedelta(**time), 0))

    turns = {
        "old": begun_ago(a_turn("old"), days=2),
        "lost": begun_ago(a_turn("lost", answer="", interrupted=True), hours=2),
        "failed": begun_ago(a_failed_turn("failed"), hours=2),
        "handed-over": begun_ago(a_turn("handed-over"), hours=1),
        "young": begun_ago(a_turn("young"), minutes=1),
    }
    conversation = await begun(SqliteConversations(database, clock), *turns.values())
    await queue.add(jobs(conversation.id, clock, ["handed-over"]))
    found = await queue.forgotten(clock.now() - timedelta(days=1), clock.now() - timedelta(minutes=5))
    assert {(job.turn_id, job.kind) for job in found} == {("lost", JobKind.MEMORIES), ("lost", JobKind.SUMMARY)}
