"""Keys of stored files: made by the server, so that no store needs to trust a client's file name."""

import hashlib
import re

from tertulia.domain.errors import InvalidValue

_KEY = re.compile(r"(?!.*\.\.)[a-z0-9_-][a-z0-9_.-]*(/[a-z0-9_-][a-z0-9_.-]*)*")
_MOST_CHARACTERS = 200
"""File names end at 255 bytes on most disks, endings included."""


def is_key(key: str) -> bool:
    """Whether a key is of the server's making: lower-case names with slashes between them, and no way up."""
    return len(key) <= _MOST_CHARACTERS and _KEY.fullmatch(key) is not None


def checked_key(key: str) -> str:
    """Return a key as it is, or raise InvalidValue."""
    if not is_key(key):
        raise InvalidValue("This is not the key of a file.")
    return key


def folder_of(user: str) -> str:
    """Return the folder of a user's files, which does not tell the user's name."""
    return hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()[:32]
