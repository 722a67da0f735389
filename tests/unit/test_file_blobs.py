"""The traps of files on a disk: no room, a write cut short, two at once."""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tertulia.adapters.embedded.files import FileBlobs
from tertulia.domain.errors import Unavailable
from tertulia.ports import Blob

BLOB = Blob(
    key="uploads/a", data=b"old", name="a.txt", media_type="text/plain", created_at=datetime(2030, 6, 1, tzinfo=UTC)
)


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_keeps_the_old_file_and_leaves_no_pieces(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    await blobs.put("me", BLOB)
    before = sorted(tmp_path.rglob("*"))
    newer = replace(BLOB, data=b"x" * 200_000)
    with room_for(100_000), pytest.raises(Unavailable, match="The disk is full"):
        await blobs.put("me", newer)
    assert await blobs.get("me", BLOB.key) == BLOB
    assert sorted(tmp_path.rglob("*")) == before
    await blobs.put("me", newer)
    assert await blobs.get("me", BLOB.key) == newer


async def test_a_folder_that_cannot_be_made_is_told_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(Unavailable, match="cannot be read or written"):
        await FileBlobs(tmp_path / "file").put("me", BLOB)


async def test_a_replaced_or_removed_file_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    await blobs.put("me", BLOB)
    await blobs.put("me", replace(BLOB, data=b"new"))
    assert len([each for each in tmp_path.rglob("*") if each.is_file()]) == 2
    await blobs.remove("me", BLOB.key)
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


async def test_readers_get_a_whole_file_while_it_is_replaced(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    versions = [replace(BLOB, data=f"{place}".encode() * 50_000, name=str(place)) for place in range(10)]
    await blobs.put("me", versions[0])

    async def replace_it() -> None:
        for version in versions:
            await blobs.put("me", version)

    writing = asyncio.create_task(replace_it())
    while not writing.done():
        assert await blobs.get("me", BLOB.key) in versions
    await writing


async def test_no_folder_tells_the_name_of_a_user(tmp_path: Path) -> None:
    await FileBlobs(tmp_path).put("me@example.org", BLOB)
    assert not [each for each in tmp_path.rglob("*") if "example" in str(each)]
