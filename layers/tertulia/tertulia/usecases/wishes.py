"""What users wish for, as their turns look it up."""

import time

from tertulia.domain.accounts import UserSettings
from tertulia.ports.accounts import UserStore

SECONDS_REMEMBERED = 1.0
"""A turn looks twice, to be let in and to be answered; what another process saves counts this much later at most."""

_MOST_REMEMBERED = 1000


class Wishes:
    """The settings of users, each remembered for a moment, so that no answer waits for them."""

    def __init__(self, users: UserStore) -> None:
        self._users = users
        self._remembered: dict[str, tuple[float, UserSettings]] = {}

    async def settings(self, user: str) -> UserSettings:
        """Return a user's settings."""
        known = self._remembered.get(user)
        if known and time.monotonic() - known[0] < SECONDS_REMEMBERED:
            return known[1]
        found = await self._users.settings(user)
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[user] = (time.monotonic(), found)
        return found

    async def save(self, user: str, settings: UserSettings) -> None:
        """Replace a user's settings, for the next turn already."""
        await self._users.save_settings(user, settings)
        self._remembered.pop(user, None)
