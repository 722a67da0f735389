"""What every store of files promises."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tertulia.domain.errors import InvalidValue, NotFound
from tertulia.ports import Blob, BlobStore

BLOB = Blob(
    key="uploads/2030/a-file_1.wav",
    data=b"\x00\xff" * 1000,
    name="Aufnahme 部署 (1).wav",
    media_type="audio/wav",
    created_at=datetime(2030, 6, 1, 12, 0, 0, 250, tzinfo=UTC),
)
OUTSIDE = [
    "",
    "/etc/passwd",
    "../other/a",
    "a/../b",
    "a/..",
    "..",
    ".",
    "a//b",
    "a/",
    "a/.hidden",
    "A",
    "a b",
    "a\\b",
    "a\n",
    "a\x00",
    "é",
    "x" * 201,
]


async def test_a_file_comes_back_with_all_that_is_known(blobs: BlobStore) -> None:
    await blobs.put("me", BLOB)
    assert await blobs.get("me", BLOB.key) == BLOB


async def test_the_same_key_again_replaces_the_file(blobs: BlobStore) -> None:
    newer = replace(BLOB, data=b"new", name="n", media_type="text/plain")
    await blobs.put("me", BLOB)
    await blobs.put("me", newer)
    await blobs.put("me", newer)
    assert await blobs.get("me", BLOB.key) == newer


async def test_a_key_may_be_the_beginning_of_another(blobs: BlobStore) -> None:
    files = [replace(BLOB, key=key, data=key.encode()) for key in ("a", "a/b", "a.json", "a/b.json", "x" * 200)]
    for file in files:
        await blobs.put("me", file)
    assert [await blobs.get("me", file.key) for file in files] == files


async def test_nobody_reaches_another_users_file(blobs: BlobStore) -> None:
    await blobs.put("me", BLOB)
    await blobs.remove("you", BLOB.key)
    with pytest.raises(NotFound):
        await blobs.get("you", BLOB.key)
    await blobs.put("you", replace(BLOB, data=b"yours"))
    assert await blobs.get("me", BLOB.key) == BLOB


async def test_a_removed_file_is_gone(blobs: BlobStore) -> None:
    await blobs.put("me", BLOB)
    await blobs.remove("me", BLOB.key)
    await blobs.remove("me", BLOB.key)
    with pytest.raises(NotFound):
        await blobs.get("me", BLOB.key)


async def test_an_empty_file_is_a_file(blobs: BlobStore) -> None:
    await blobs.put("me", replace(BLOB, data=b"", name=""))
    assert (await blobs.get("me", BLOB.key)).data == b""


async def test_a_very_long_name_does_not_hinder(blobs: BlobStore) -> None:
    await blobs.put("me", replace(BLOB, name="部" * 3000))
    stored = await blobs.get("me", BLOB.key)
    assert stored.data == BLOB.data
    assert set(stored.name) == {"部"}


@pytest.mark.parametrize("key", OUTSIDE)
async def test_keys_not_made_by_the_server_lead_nowhere(blobs: BlobStore, key: str) -> None:
    with pytest.raises(InvalidValue):
        await blobs.put("me", replace(BLOB, key=key))
    with pytest.raises(NotFound):
        await blobs.get("me", key)
    await blobs.remove("me", key)
