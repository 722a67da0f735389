"""What search engines answer when they do not search, in words that help."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from tertulia.domain.errors import QuotaUsedUp, ServiceFailed
from tertulia.ports import Clock

MOST_WAIT_SECONDS = 3.0
_USUAL_WAIT_SECONDS = 1.0
_KEY_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class Hurried(ServiceFailed):
    """Too many searches at once; a short wait helps."""


def refused(engine: str, status: int, headers: Mapping[str, str], used_up: frozenset[int]) -> ServiceFailed:
    """Return what an answer that is no result means; `used_up` are the engine's own words for a spent plan."""
    if status in used_up:
        return QuotaUsedUp(f"The search quota of {engine} is used up.")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Hurried(f"{engine} is asked too often just now.", retry_after=_seconds(headers.get("retry-after")))
    if status in _KEY_REFUSED:
        return ServiceFailed(f"{engine} does not accept the key.")
    return ServiceFailed(f"{engine} could not search just now.")


def unreachable(engine: str, *, late: bool = False) -> ServiceFailed:
    """Return that there was no answer."""
    return ServiceFailed(f"{engine} took too long." if late else f"{engine} cannot be reached.")


def unreadable(engine: str) -> ServiceFailed:
    """Return that the answer was not in the form it should have."""
    return ServiceFailed(f"{engine} answered with something else than results.")


async def once_more[T](clock: Clock, search: Callable[[], Awaitable[T]]) -> T:
    """Search, and where the engine is hurried and says how long it needs, wait that short time and search once more."""
    try:
        return await search()
    except Hurried as hurried:
        wait = _USUAL_WAIT_SECONDS if hurried.retry_after is None else hurried.retry_after
        if wait > MOST_WAIT_SECONDS:
            raise
        await clock.sleep(wait)
    return await search()


def _seconds(header: str | None) -> float | None:
    try:
        return max(float(header or ""), 0.0)
    except ValueError:
        return None
