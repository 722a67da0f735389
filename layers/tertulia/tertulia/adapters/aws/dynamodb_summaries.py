"""The summaries of conversations in DynamoDB, found by their meaning: an exact search over the user's own."""

import asyncio
from base64 import b64decode, b64encode
from datetime import datetime

from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import storable
from tertulia.adapters.summary_matches import best_matches
from tertulia.adapters.vectors import blob_of
from tertulia.domain.summaries import Match, SummaryEntry, Vector


class DynamoSummaries:
    """The summary index of the cloud, where no vector database is set."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    async def put(self, entry: SummaryEntry) -> None:
        """Keep a summary, in place of an earlier one of its conversation."""
        await self._table.put(
            {
                **_key(entry.user, entry.conversation_id)._asdict(),
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
        items = [item for item in await self._table.query(_all(user)) if item["model"] == vector.model]
        vectors = [b64decode(item["vector"]) for item in items]
        return await asyncio.to_thread(best_matches, vector, [_match(item) for item in items], vectors, limit)

    async def remove(self, user: str, conversation_id: str) -> None:
        """Forget a conversation's summary; one that is not there is fine."""
        await self._table.delete(_key(user, conversation_id))

    async def remove_all(self, user: str) -> None:
        """Forget all summaries of the user."""
        await self._table.delete_all([Key(item["pk"], item["sk"]) for item in await self._table.query(_all(user))])


def _key(user: str, conversation_id: str) -> Key:
    return Key(f"USER#{user}", f"SUMMARY#{conversation_id}")


def _all(user: str) -> Query:
    return Query(pk=f"USER#{user}", condition="begins_with(#sk, :summaries)", values={":summaries": "SUMMARY#"})


def _match(item: Item) -> Match:
    return Match(
        user=item["user"],
        conversation_id=item["conversation_id"],
        title=item["title"],
        overview=item["overview"],
        created_at=datetime.fromisoformat(item["created_at"]),
        score=0.0,
    )
