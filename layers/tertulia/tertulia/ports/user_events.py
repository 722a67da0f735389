"""The users' own event streams, kept for a week and numbered over restarts."""

from typing import Protocol

from tertulia.domain.user_events import NumberedUserEvent, UserEvent


class UserEvents(Protocol):
    """The events of users; each user's numbers grow, with none left out that comes later."""

    async def publish(self, user: str, event: UserEvent) -> int:
        """Add an event and return its number; one whose key is among the last events has it already."""
        ...

    async def read(self, user: str, after: int) -> list[NumberedUserEvent]:
        """Return the events numbered above `after`, oldest first, at most `MOST_READ`."""
        ...

    async def last(self, user: str) -> int:
        """Return the number of the last event, 0 where there is none."""
        ...

    async def delete_all(self, user: str) -> int:
        """Erase every event of the user; return how many."""
        ...
