"""What every store tells of old things, so that they can be deleted."""

from datetime import UTC, datetime, timedelta

import pytest

from tertulia.adapters.aws.s3 import S3Blobs
from tertulia.adapters.embedded.files import FileBlobs
from tertulia.ports import Blob
from tests.contract.conftest import Stores
from tests.fakes.clock import FakeClock
from tests.fakes.kept_turns import ME, a_turn, begun


async def test_conversations_that_did_not_change_are_told_the_oldest_first(stores: Stores, clock: FakeClock) -> None:
    store = stores.conversations
    first = await begun(store, a_turn("t1"))
    clock.move(days=1)
    second = await begun(store, a_turn("t2"))
    await begun(store, a_turn("t3"), user="you")
    clock.move(days=1)
    await store.append(first, a_turn("t4", 2))
    first = await store.get(ME, first.id)
    assert await store.older(ME, clock.now() - timedelta(days=1)) == []
    assert await store.older(ME, clock.now() - timedelta(hours=1)) == [second]
    assert await store.older(ME, clock.now() + timedelta(hours=1)) == [second, first]
    assert await store.older(ME, clock.now() + timedelta(hours=1), limit=1) == [second]


async def test_files_made_before_a_time_are_told_by_their_keys(blobs: FileBlobs | S3Blobs) -> None:
    now = datetime.now(UTC)
    for user, key in ((ME, "upload-1"), (ME, "upload-1-about"), (ME, "a/b"), ("you", "c")):
        await blobs.put(user, Blob(key=key, data=b"x", name="x", media_type="text/plain", created_at=now))
    later = now + timedelta(minutes=5)
    assert sorted(await blobs.older(ME, later)) == ["a/b", "upload-1", "upload-1-about"]
    assert sorted(await blobs.older(ME, later, "upload-")) == ["upload-1", "upload-1-about"]
    assert await blobs.older(ME, now - timedelta(minutes=5)) == []
    assert await blobs.older("nobody", later) == []


@pytest.mark.parametrize("prefix", ["", "upload-"])
async def test_more_files_than_a_page_holds_are_all_told(blobs: FileBlobs | S3Blobs, prefix: str) -> None:
    now = datetime.now(UTC)
    keys = [f"upload-{place:04d}" for place in range(30)]
    for key in keys:
        await blobs.put(ME, Blob(key=key, data=b"", name="x", media_type="text/plain", created_at=now))
    assert sorted(await blobs.older(ME, now + timedelta(minutes=5), prefix)) == keys
