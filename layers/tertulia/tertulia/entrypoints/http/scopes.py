"""Which scope each route needs: the one place that decides it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tertulia.domain.accounts import Scope

READING = frozenset({"GET", "HEAD", "OPTIONS"})
_ANY = frozenset(Scope)


class Needs(NamedTuple):
    """What reading and writing need; any one of several scopes is enough."""

    reading: frozenset[Scope] = frozenset({Scope.READ})
    writing: frozenset[Scope] = frozenset({Scope.TURNS})


NEEDS: Mapping[str, Needs] = MappingProxyType(
    {
        "/": Needs(),
        # Whose token it is may be asked with any.
        "/api/session": Needs(_ANY, _ANY),
        # A token that may ask may also come back to its answer.
        "/api/turns": Needs(frozenset({Scope.READ, Scope.TURNS})),
        "/api/me": Needs(writing=frozenset({Scope.ADMIN})),
        "/api/config": Needs(writing=frozenset({Scope.ADMIN})),
        "/api/me/tokens": Needs(frozenset({Scope.ADMIN}), frozenset({Scope.ADMIN})),
    }
)
"""By the beginning of a route's path, the longest that fits."""


def scopes_for(method: str, path: str) -> frozenset[Scope]:
    """Return the scopes any of which a route needs; `path` is as the route is written, its parameters unfilled."""
    place = path
    while place not in NEEDS:
        place = place.rpartition("/")[0] or "/"
    needs = NEEDS[place]
    return needs.reading if method.upper() in READING else needs.writing
