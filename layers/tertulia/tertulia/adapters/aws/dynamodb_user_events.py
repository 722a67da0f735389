"""The users' own event streams in DynamoDB."""

from datetime import datetime

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import from_document, to_document
from tertulia.domain.errors import Unavailable
from tertulia.domain.user_events import KEPT, MOST_READ, NumberedUserEvent, UserEvent
from tertulia.ports import Clock

_MOST_ATTEMPTS = 20
_KEYS_LOOKED_THROUGH = 20
"""A repetition comes within seconds; a few events may be in between."""


class DynamoUserEvents:
    """The events of users, over all functions that share the table."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def publish(self, user: str, event: UserEvent) -> int:
        """Add an event right behind the last one: with a counter of its own, a reader could pass one not yet written."""
        for _ in range(_MOST_ATTEMPTS):
            newest = await self._newest(user, _KEYS_LOOKED_THROUGH if event.key else 1)
            for item in newest:
                if event.key and item["key"] == event.key:
                    return int(item["number"])
            now = self._clock.now()
            number = int(newest[0]["number"]) + 1 if newest else int(now.timestamp() * 1000)
            try:
                await self._table.put(_item(user, number, event, now), "attribute_not_exists(#pk)")
            except ConditionFailed:
                continue
            return number
        raise Unavailable

    async def read(self, user: str, after: int) -> list[NumberedUserEvent]:
        """Return the events numbered above `after`, oldest first."""
        between = Query(
            pk=_partition(user),
            condition="#sk BETWEEN :first AND :last",
            values={":first": _place(after + 1), ":last": _place(10**16 - 1)},
            most=MOST_READ,
        )
        return [_numbered(item) for item in await self._table.query(between)]

    async def last(self, user: str) -> int:
        """Return the number of the last event, 0 where there is none."""
        newest = await self._newest(user, 1)
        return int(newest[0]["number"]) if newest else 0

    async def delete_all(self, user: str) -> int:
        """Erase every event of the user."""
        items = await self._table.query(_all_of(user))
        await self._table.delete_all([Key(item["pk"], item["sk"]) for item in items])
        return len(items)

    async def _newest(self, user: str, most: int) -> list[Item]:
        return await self._table.query(_all_of(user, most))


def _item(user: str, number: int, event: UserEvent, now: datetime) -> Item:
    return {
        **Key(_partition(user), _place(number))._asdict(),
        "number": number,
        "name": event.name,
        "key": event.key,
        "at": sortable(now),
        "document": to_document(dict(event.data)),
        "expires_at": int((now + KEPT).timestamp()),
    }


def _partition(user: str) -> str:
    # Apart from all else of the user's: a page that waits asks every second.
    return f"USEREVENTS#{user}"


def _place(number: int) -> str:
    return f"EVENT#{number:016d}"


def _all_of(user: str, most: int | None = None) -> Query:
    return Query(
        pk=_partition(user),
        condition="begins_with(#sk, :events)",
        values={":events": "EVENT#"},
        newest_first=True,
        most=most,
    )


def _numbered(item: Item) -> NumberedUserEvent:
    event = UserEvent(name=item["name"], key=item["key"], data=from_document(item["document"]))
    return NumberedUserEvent(number=int(item["number"]), event=event, at=datetime.fromisoformat(item["at"]))
