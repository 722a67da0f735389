"""Files of users on the disk."""

import asyncio
import errno
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from tertulia.adapters.blob_keys import checked_key, folder_of, is_key
from tertulia.domain.errors import NotFound, Unavailable
from tertulia.ports import Blob

_OWNER_ONLY = 0o700
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class FileBlobs:
    """Each file as its content and, beside it, a JSON file that tells about it and names the content."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, user: str, blob: Blob) -> None:
        """Keep a file; the same key again replaces it."""
        checked_key(blob.key)
        await asyncio.to_thread(self._put, user, blob)

    async def get(self, user: str, key: str) -> Blob:
        """Return a file of the user's, or raise NotFound."""
        if not is_key(key):
            raise NotFound
        return await asyncio.to_thread(self._get, user, key)

    async def remove(self, user: str, key: str) -> None:
        """Delete a file; deleting what is not there is fine."""
        if is_key(key):
            await asyncio.to_thread(self._remove, user, key)

    async def older(self, user: str, before: datetime, prefix: str = "") -> list[str]:
        """Return the keys of the user's files made before then, of those whose key begins so."""
        return await asyncio.to_thread(self._older, user, before, prefix)

    def _older(self, user: str, before: datetime, prefix: str) -> list[str]:
        cards = [(_key_of(about), about) for about in (self._root / folder_of(user)).glob("*.json")]
        with _plain_failures():
            return [key for key, about in cards if key.startswith(prefix) and _made_at(about) < before]

    def _put(self, user: str, blob: Blob) -> None:
        about = self._about(user, blob.key)
        content = f"{about.stem}.{hashlib.sha256(blob.data).hexdigest()[:32]}"
        card = {
            "content": content,
            "name": blob.name,
            "media_type": blob.media_type,
            "created_at": blob.created_at.isoformat(),
        }
        with _plain_failures():
            about.parent.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
            before = self._content_named_in(about)
            _write_whole(about.with_name(content), blob.data)
            # The file that tells about it is replaced last: until then readers get the whole old file.
            _write_whole(about, json.dumps(card).encode())
            if before not in (None, content):
                about.with_name(before).unlink(missing_ok=True)

    def _get(self, user: str, key: str) -> Blob:
        about = self._about(user, key)
        with _plain_failures():
            try:
                return _read(about, key)
            except FileNotFoundError:
                # It may have been replaced between the two reads; a file that is gone is so the second time too.
                return _read(about, key)

    def _remove(self, user: str, key: str) -> None:
        about = self._about(user, key)
        with _plain_failures():
            content = self._content_named_in(about)
            about.unlink(missing_ok=True)
            if content is not None:
                about.with_name(content).unlink(missing_ok=True)

    def _about(self, user: str, key: str) -> Path:
        # One folder a user and no folders in it: "a" and "a/b" can then both be keys.
        return self._root / folder_of(user) / f"{key.replace('/', ',')}.json"

    @staticmethod
    def _content_named_in(about: Path) -> str | None:
        try:
            return str(json.loads(about.read_text("utf-8"))["content"])
        except FileNotFoundError:
            return None


def _key_of(about: Path) -> str:
    return about.stem.replace(",", "/")


def _made_at(about: Path) -> datetime:
    return datetime.fromisoformat(json.loads(about.read_text("utf-8"))["created_at"])


def _read(about: Path, key: str) -> Blob:
    card = json.loads(about.read_text("utf-8"))
    return Blob(
        key=key,
        data=about.with_name(card["content"]).read_bytes(),
        name=card["name"],
        media_type=card["media_type"],
        created_at=datetime.fromisoformat(card["created_at"]),
    )


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there as a whole or not at all, even after a power loss."""
    draft = path.with_name(f"{secrets.token_hex(8)}.draft")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


@contextmanager
def _plain_failures() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound from error
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise Unavailable("The disk is full. Free some space and try again.") from error
        raise Unavailable("The data folder cannot be read or written. Check the disk and who owns it.") from error
