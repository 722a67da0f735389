"""Work in the back never keeps a person waiting."""

import asyncio

import pytest

from tertulia.usecases.quiet import GaveWay, Quiet


async def test_work_goes_to_its_end_where_nobody_comes() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    assert await Quiet().unless_somebody_comes(work()) == "done"


async def test_a_failure_of_the_work_is_its_own() -> None:
    async def work() -> None:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        await Quiet().unless_somebody_comes(work())


async def test_work_stops_as_soon_as_somebody_comes() -> None:
    quiet, stopped = Quiet(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    working = asyncio.create_task(quiet.unless_somebody_comes(work()))
    await asyncio.sleep(0)
    with quiet.person():
        with pytest.raises(GaveWay):
            await working
        assert stopped.is_set()


async def test_work_waits_until_the_last_of_several_people_has_gone() -> None:
    quiet = Quiet(0.0)
    with quiet.person():
        with quiet.person():
            calm = asyncio.create_task(quiet.until_calm())
        await asyncio.sleep(0.01)
        assert not calm.done()
    await calm


async def test_it_is_not_calm_while_people_come_and_go() -> None:
    quiet = Quiet(0.05)
    calm = asyncio.create_task(quiet.until_calm())
    for _ in range(4):
        await asyncio.sleep(0.02)
        with quiet.person():
            await asyncio.sleep(0)
    assert not calm.done()
    await calm


async def test_whoever_stops_the_work_from_outside_stops_all_of_it() -> None:
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    working = asyncio.create_task(Quiet().unless_somebody_comes(work()))
    await asyncio.sleep(0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert stopped.is_set()
