"""A check of one matter of an installation."""

from collections.abc import Sequence
from typing import Protocol

from tertulia.domain.checkups import Finding


class Check(Protocol):
    """Looks at one matter, within seconds and without changing anything."""

    @property
    def matter(self) -> str:
        """What it looks at, in a few words."""
        ...

    async def __call__(self) -> Sequence[Finding]:
        """Look."""
        ...
