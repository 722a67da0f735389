"""Ways past the server for what is too large to pass through it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class ExpectedFile:
    """A file as its sender announced it."""

    key: str
    name: str
    media_type: str
    size: int
    sha256: str
    """In hexadecimal digits."""
    announced_at: datetime


@dataclass(frozen=True, kw_only=True)
class WayIn:
    """Where to POST a form that holds these fields and, as its last one, `file`."""

    url: str
    fields: Mapping[str, str]


class Transfers(Protocol):
    """Files that clients send and fetch by themselves; the store of files has them under the same keys."""

    async def way_in(self, user: str, expected: ExpectedFile, seconds: int) -> WayIn:
        """Let in exactly this file, for so long."""
        ...

    async def way_out(self, user: str, key: str, seconds: int) -> str:
        """Return an address that gives a file to whoever has it, for so long."""
        ...
