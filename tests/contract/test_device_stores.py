"""What every store of devices, of their messages and of their recordings under way promises."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from tertulia.adapters.aws.s3_slices import S3UtteranceSlices
from tertulia.domain.devices import Device, UtteranceStart
from tertulia.domain.errors import Conflict, NotFound
from tertulia.ports.devices import DeviceInbox, DeviceRegistry, Kept, UtteranceSlices
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock


@pytest.fixture
def devices(stores: Stores) -> DeviceRegistry:
    return stores.devices


@pytest.fixture
def inbox(stores: Stores) -> DeviceInbox:
    return stores.inbox


@pytest.fixture
def clip(clock: FakeClock) -> Device:
    return Device(id="clip-1", user="ana", name="Lapel", kind="clip", created_at=clock.now())


@pytest.fixture
def message(clock: FakeClock) -> Kept:
    return Kept(device_id="clip-1", id="m1", payload="{}", received_at=clock.now(), turn_id="t1")


async def test_a_device_is_found_by_its_id_and_listed_for_its_user(devices: DeviceRegistry, clip: Device) -> None:
    await devices.add(clip)

    assert await devices.find("clip-1") == clip
    assert await devices.of("ana") == [clip]
    assert await devices.of("ben") == []
    assert await devices.find("clip-2") is None


async def test_an_id_is_one_devices_alone(devices: DeviceRegistry, clip: Device) -> None:
    await devices.add(clip)

    with pytest.raises(Conflict):
        await devices.add(replace(clip, user="ben"))

    assert await devices.of("ben") == []


async def test_the_newest_device_is_listed_first(devices: DeviceRegistry, clip: Device) -> None:
    later = replace(clip, id="clip-2", created_at=clip.created_at + timedelta(seconds=1))
    await devices.add(clip)
    await devices.add(later)

    assert await devices.of("ana") == [later, clip]


async def test_what_a_device_wishes_is_kept(devices: DeviceRegistry, clip: Device) -> None:
    await devices.add(clip)
    await devices.wish("clip-1", {"language": "de", "tokens": True})
    await devices.wish("nobody", {"language": "de"})

    found = await devices.find("clip-1")
    assert found
    assert found.wishes == {"language": "de", "tokens": True}
    assert await devices.find("nobody") is None


async def test_a_revoked_device_is_known_and_not_listed(
    devices: DeviceRegistry, clip: Device, clock: FakeClock
) -> None:
    await devices.add(clip)
    await devices.revoke("ana", "clip-1", clock.now())

    found = await devices.find("clip-1")
    assert found
    assert found.revoked_at == clock.now()
    assert await devices.of("ana") == []


async def test_nobody_revokes_anothers_device(devices: DeviceRegistry, clip: Device, clock: FakeClock) -> None:
    await devices.add(clip)

    for user, device in (("ben", "clip-1"), ("ana", "clip-2")):
        with pytest.raises(NotFound):
            await devices.revoke(user, device, clock.now())

    assert await devices.of("ana") == [clip]


async def test_a_message_comes_once(inbox: DeviceInbox, message: Kept) -> None:
    assert await inbox.find("clip-1", "m1") is None
    assert await inbox.accept(message) == message

    assert await inbox.accept(replace(message, payload="[]", turn_id="t2")) == message
    assert await inbox.find("clip-1", "m1") == message
    assert await inbox.find("clip-2", "m1") is None


async def test_of_many_copies_at_once_one_is_kept(inbox: DeviceInbox, message: Kept) -> None:
    kept = await asyncio.gather(*(inbox.accept(replace(message, turn_id=f"t{place}")) for place in range(6)))

    assert len({each.turn_id for each in kept}) == 1


async def test_a_day_later_an_id_is_free_again(inbox: DeviceInbox, message: Kept, clock: FakeClock) -> None:
    await inbox.accept(message)
    await clock.sleep(25 * 3600)

    assert await inbox.find("clip-1", "m1") is None
    again = replace(message, received_at=clock.now(), turn_id="t2")
    assert await inbox.accept(again) == again


async def test_the_beginning_of_an_utterance_is_kept(inbox: DeviceInbox, clock: FakeClock) -> None:
    start = UtteranceStart(utterance="u1", format="pcm16", sample_rate=16_000, channels=1, conversation_id="ab")
    await inbox.expect("clip-1", start, clock.now())

    assert await inbox.expected("clip-1", "u1") == start
    assert await inbox.expected("clip-2", "u1") is None


@pytest.fixture(params=["sqlite", "s3"])
def slices(request: pytest.FixtureRequest) -> UtteranceSlices:
    if request.param == "s3":
        request.getfixturevalue("aws")
        client = request.getfixturevalue("s3")
        client.create_bucket(Bucket="slices", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        return S3UtteranceSlices("slices", client)
    from tertulia.adapters.embedded.sqlite_devices import SqliteUtteranceSlices

    return SqliteUtteranceSlices(request.getfixturevalue("database"), request.getfixturevalue("clock"))


async def test_slices_are_joined_in_the_order_of_their_numbers(slices: UtteranceSlices) -> None:
    for number in (10, 2, 0, 1, *range(3, 10), 11):
        await slices.put("clip-1", "u1", number, bytes([number]))

    assert await slices.numbers("clip-1", "u1") == list(range(12))
    assert await slices.joined("clip-1", "u1", 12) == bytes(range(12))
    assert await slices.joined("clip-1", "u1", 2) == b"\x00\x01"


async def test_a_missing_slice_is_no_gap(slices: UtteranceSlices) -> None:
    await slices.put("clip-1", "u1", 0, b"a")
    await slices.put("clip-1", "u1", 2, b"c")

    assert await slices.numbers("clip-1", "u1") == [0, 2]
    with pytest.raises(NotFound):
        await slices.joined("clip-1", "u1", 3)


async def test_slices_are_each_utterances_and_devices_own(slices: UtteranceSlices) -> None:
    await slices.put("clip-1", "u1", 0, b"a")
    await slices.put("clip-1", "u2", 0, b"b")
    await slices.put("clip-2", "u1", 0, b"c")
    await slices.remove("clip-1", "u1")

    assert await slices.numbers("clip-1", "u1") == []
    assert await slices.joined("clip-1", "u2", 1) == b"b"
    assert await slices.joined("clip-2", "u1", 1) == b"c"
