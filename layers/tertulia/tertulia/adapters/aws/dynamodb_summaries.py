"""The summaries of conversations in DynamoDB, searched in the memory of the function that asks.

A function reads a user's summaries once, and from then on only what has changed since: changes are listed by their
time, removals among them, until every function that could still know what was removed has read anew.
"""

import asyncio
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.summary_shelf import SummaryShelf
from tertulia.adapters.vectors import blob_of
from tertulia.domain.summaries import Match, SummaryEntry, Vector
from tertulia.ports import Clock

CLOCKS_MAY_DIFFER = timedelta(seconds=60)
READ_ANEW_AFTER = timedelta(hours=12)
REMOVALS_ARE_LISTED = timedelta(days=2)
MOST_ON_SHELVES = 30_000
"""Summaries of all users in this process: some 150 MB."""


class _Kept:
    """A user's shelf, and as of when."""

    def __init__(self, now: datetime) -> None:
        self.shelf = SummaryShelf()
        self.begun_at = now
        self.read_at = now


class DynamoSummaries:
    """The summary index of the cloud, where no vector database is set."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._turn_to_read = asyncio.Lock()

    async def put(self, entry: SummaryEntry) -> None:
        """Keep a summary, in place of an earlier one of its conversation."""
        await self._table.put(
            {
                **_key(entry.user, entry.conversation_id)._asdict(),
                "listed": self._listed(entry.conversation_id),
                "user": entry.user,
                "conversation_id": entry.conversation_id,
                "title": storable(entry.title),
                "overview": storable(entry.overview),
                "created_at": sortable(entry.created_at),
                "model": entry.vector.model,
                "vector": b64encode(blob_of(entry.vector.values)).decode(),
            }
        )

    async def nearest(self, user: str, vector: Vector, limit: int) -> list[Match]:
        """Return the user's summaries nearest in meaning, the nearest first."""
        shelf = await self._shelf(user)
        return await asyncio.to_thread(shelf.nearest, vector, limit)

    async def with_words(self, user: str, text: str, limit: int) -> list[Match]:
        """Return the user's summaries that share telling words with a text, those that share most first."""
        return (await self._shelf(user)).with_words(text, limit)

    async def named(self, user: str, conversation_ids: Sequence[str]) -> list[Match]:
        """Return the user's summaries of these conversations, those that there are."""
        return (await self._shelf(user)).named(conversation_ids)

    async def retitle(self, user: str, conversation_id: str, title: str) -> None:
        """Give a summary another title; its meaning is read anew with the next summary."""
        changes = {":title": storable(title), ":listed": self._listed(conversation_id)}
        with suppress(ConditionFailed):
            await self._table.change(
                _key(user, conversation_id),
                "SET #title = :title, #listed = :listed",
                "attribute_exists(#overview)",
                changes,
            )

    async def remove(self, user: str, conversation_id: str) -> None:
        """Forget a conversation's summary; one that is not there is fine."""
        removed = {**_key(user, conversation_id)._asdict(), "listed": self._listed(conversation_id), "removed": True}
        with suppress(ConditionFailed):
            await self._table.put(
                removed | {"conversation_id": conversation_id, "expires_at": self._expiry()}, "attribute_exists(#pk)"
            )

    async def remove_all(self, user: str) -> None:
        """Forget all summaries of the user."""
        keys = [Key(item["pk"], item["sk"]) for item in await self._table.query(_all(user))]
        await self._table.delete_all(keys)
        if keys:
            cleared = {"pk": _partition(user), "sk": "SUMMARIES", "listed": self._listed(""), "conversation_id": ""}
            await self._table.put(cleared | {"removed": True, "expires_at": self._expiry()})

    async def _shelf(self, user: str) -> SummaryShelf:
        async with self._turn_to_read:
            now = self._clock.now()
            kept = self._kept.pop(user, None)
            if kept is None or now - kept.begun_at > READ_ANEW_AFTER:
                kept = _Kept(now)
                items = await self._table.query(_all(user))
            else:
                items = await self._table.query(_changed(user, kept.read_at - CLOCKS_MAY_DIFFER))
            kept.shelf = await asyncio.to_thread(_with, kept.shelf, items)
            kept.read_at = now
            self._kept[user] = kept
            while len(self._kept) > 1 and sum(len(each.shelf) for each in self._kept.values()) > MOST_ON_SHELVES:
                self._kept.popitem(last=False)
            return kept.shelf

    def _listed(self, conversation_id: str) -> str:
        return f"S#{sortable(self._clock.now())}#{conversation_id}"

    def _expiry(self) -> int:
        return int((self._clock.now() + REMOVALS_ARE_LISTED).timestamp())


def _partition(user: str) -> str:
    return f"USER#{user}"


def _key(user: str, conversation_id: str) -> Key:
    return Key(_partition(user), f"SUMMARY#{conversation_id}")


def _all(user: str) -> Query:
    return Query(pk=_partition(user), condition="begins_with(#sk, :summaries)", values={":summaries": "SUMMARY#"})


def _changed(user: str, since: datetime) -> Query:
    return Query(
        pk=_partition(user),
        condition="#listed BETWEEN :since AND :end",
        values={":since": f"S#{sortable(since)}", ":end": "S#~"},
        listing=True,
    )


def _with(shelf: SummaryShelf, items: list[Item]) -> SummaryShelf:
    for item in items:
        if not item.get("removed"):
            shelf.put(_match(item), item["model"], b64decode(item["vector"]))
        elif item["conversation_id"]:
            shelf.remove(item["conversation_id"])
        else:
            # All that is older is gone, and what is newer comes after it.
            shelf = SummaryShelf()
    return shelf


def _match(item: Item) -> Match:
    return Match(
        user=item["user"],
        conversation_id=item["conversation_id"],
        title=item["title"],
        overview=item["overview"],
        created_at=datetime.fromisoformat(item["created_at"]),
        score=0.0,
    )
