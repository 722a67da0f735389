"""Events of running and lately ended turns in DynamoDB."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query, parts_of
from tertulia.adapters.turn_event_batches import (
    KEPT_AFTER_END,
    KEPT_WITHOUT_END,
    batch_document,
    batch_of,
    is_last,
)
from tertulia.domain.errors import NotFound
from tertulia.domain.replies import Numbered
from tertulia.ports import Clock

_OURS_AND_LIVE = "#user = :user AND #expires_at > :now"


class DynamoTurnEvents:
    """The events of turns, over all functions that share the table."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def begin(self, user: str, turn_id: str) -> None:
        """Make the turn known as running, with no events and no wish to stop."""
        run = {**_run(turn_id)._asdict(), "user": user, "stop_asked": False, "expires_at": self._in(KEPT_WITHOUT_END)}
        try:
            # Whether a batch is left from an earlier run is asked at the same time: the first token waits for this.
            _, left = await asyncio.gather(
                self._table.put(
                    run,
                    "attribute_not_exists(#pk) OR #user = :user OR #expires_at <= :now",
                    {":user": user, ":now": self._in(timedelta())},
                ),
                self._table.query(_batches(turn_id)),
            )
        except ConditionFailed as error:
            raise NotFound from error
        await self._table.delete_all([Key(item["pk"], item["sk"]) for item in left])

    async def write(self, turn_id: str, events: Sequence[Numbered]) -> None:
        """Add events; those of a turn deleted meanwhile stay unread until they expire."""
        if not events:
            return
        for place, part in enumerate(parts_of(batch_document(events))):
            await self._table.put(
                {
                    **Key(_partition(turn_id), f"BATCH#{events[0].number:010d}#{place:03d}")._asdict(),
                    "first_number": events[0].number,
                    "last_number": events[-1].number,
                    "document": part,
                    "expires_at": self._in(KEPT_WITHOUT_END),
                }
            )
        if is_last(events):
            await self._end(turn_id)

    async def read(self, user: str, turn_id: str, after: int = 0) -> list[Numbered]:
        """Return the events numbered above `after`; NotFound for an unknown turn or another user's."""
        run, items = await asyncio.gather(
            self._table.get(_run(turn_id)),
            self._table.query(_batches(turn_id, after)),
        )
        if run is None or run["user"] != user or run["expires_at"] <= self._in(timedelta()):
            raise NotFound
        return [each for batch in _joined(items) for each in batch if each.number > after]

    async def ask_to_stop(self, user: str, turn_id: str) -> None:
        """Ask the process that runs the turn to stop it; NotFound as above."""
        values = {":user": user, ":now": self._in(timedelta()), ":yes": True}
        try:
            await self._table.change(_run(turn_id), "SET #stop_asked = :yes", _OURS_AND_LIVE, values)
        except ConditionFailed as error:
            raise NotFound from error

    async def is_asked_to_stop(self, turn_id: str) -> bool:
        """Whether somebody asked."""
        run = await self._table.get(_run(turn_id))
        return run is not None and bool(run["stop_asked"])

    async def _end(self, turn_id: str) -> None:
        try:
            await self._table.change(
                _run(turn_id),
                "SET #expires_at = :end",
                "attribute_exists(#pk)",
                {":end": self._in(KEPT_AFTER_END)},
            )
        except ConditionFailed:
            return

    def _in(self, time: timedelta) -> int:
        return int((self._clock.now() + time).timestamp())


async def keys_of_events(table: DynamoTable, turn_id: str) -> list[Key]:
    """Return where everything about a turn's run is, to delete it."""
    return [_run(turn_id), *(Key(item["pk"], item["sk"]) for item in await table.query(_batches(turn_id)))]


def _partition(turn_id: str) -> str:
    return f"EVENTS#{turn_id}"


def _run(turn_id: str) -> Key:
    return Key(_partition(turn_id), "RUN")


def _batches(turn_id: str, after: int = 0) -> Query:
    return Query(
        pk=_partition(turn_id),
        condition="begins_with(#sk, :batches)",
        values={":batches": "BATCH#", ":after": after},
        keep="#last_number > :after",
    )


def _joined(items: list[Item]) -> Iterator[list[Numbered]]:
    for _, parts in groupby(items, key=lambda item: item["first_number"]):
        yield batch_of("".join(part["document"] for part in parts))
