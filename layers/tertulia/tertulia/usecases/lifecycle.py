"""How the parts of the product are made ready, warmed up, and let go."""

import logging
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from tertulia.domain.errors import TertuliaError

logger = logging.getLogger(__name__)


@runtime_checkable
class Prepared(Protocol):
    """A part that is slow to make ready: it loads a model or pays for an import."""

    async def prepare(self) -> None:
        """Make it ready, so that the first turn does not wait."""
        ...


@runtime_checkable
class Begun(Protocol):
    """A part that makes itself ready beside everything else, once it is told to begin."""

    async def begin(self) -> None:
        """Begin, without waiting for the end, which `prepare` does."""
        ...


@runtime_checkable
class Warmed(Protocol):
    """A part that answers sooner after its first use."""

    async def warm(self) -> None:
        """Use it once, in the back, after everything is ready."""
        ...


@runtime_checkable
class Closed(Protocol):
    """A part that holds something open."""

    async def close(self) -> None:
        """Let it go."""
        ...


async def begin(parts: Iterable[object]) -> None:
    """Have the slowest parts begin, before anything else is built or imported."""
    for part in _each_once(parts):
        if isinstance(part, Begun):
            await part.begin()


async def prepare(parts: Iterable[object]) -> None:
    """Make parts ready, one after the other: most of it is imports, and two threads that import alike may trip each other."""
    for part in _each_once(parts):
        if isinstance(part, Prepared):
            await part.prepare()


async def warm(parts: Iterable[object]) -> None:
    """Use parts once, one after the other; what fails now will say so when it is needed."""
    for part in _each_once(parts):
        if isinstance(part, Warmed):
            try:
                await part.warm()
            except TertuliaError as error:
                logger.warning("a part could not be warmed up: %s", error.code)


async def close(parts: Iterable[object]) -> None:
    """Let go of what parts hold open."""
    for part in _each_once(parts):
        if isinstance(part, Closed):
            await part.close()


def _each_once(parts: Iterable[object]) -> list[object]:
    """One object may serve as two parts, as the local model does for answers and for tools."""
    return list({id(part): part for part in parts}.values())
