"""Summaries by their meaning in Pinecone, by its own SDK; their texts and words stay in our own store.

A hit is shown only if our own store still has it for the user: Pinecone shows what was deleted, and misses what was
written, for some seconds, and a filter that is forgotten there must not matter here.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tertulia.domain.errors import NotConfigured, ServiceFailed
from tertulia.domain.summaries import Match, SummaryEntry, Vector
from tertulia.ports.follow_up import SummaryIndex

if TYPE_CHECKING:
    from pinecone import AsyncIndex, AsyncPinecone

NAME = "Pinecone"
MOST_ID = 512
MOST_TITLE_BYTES = 2_000
"""All metadata of a vector may have 40 KB."""
METRIC = "cosine"
SECONDS = 10.0
MOST_WAIT_SECONDS = 2.0
_SECONDS_TO_BE_READY = 120

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PineconePlace:
    """Which index, and where a missing one is made."""

    index: str = "conversations"
    cloud: str = "aws"
    region: str = "us-east-1"
    dimension: int = 384
    base_url: str | None = None


class PineconeSummaries:
    """The hosted summary index."""

    def __init__(self, api_key: SecretStr, place: PineconePlace, own: SummaryIndex) -> None:
        self._api_key = api_key
        self._place = place
        self._own = own
        self._opening = asyncio.Lock()
        self._client: AsyncPinecone | None = None
        self._index: AsyncIndex | None = None

    async def prepare(self) -> None:
        """Make a missing index, and look whether the one there fits; never done in a request. Raises NotConfigured."""
        try:
            async with _told():
                found = await self._described()
        except ServiceFailed as failure:
            # Words still find everything, and the next request tries again.
            logger.warning("the hosted index could not be looked at: %s", failure.message)
            return
        fields = [(each.dimension, each.metric) for each in found.schema.fields.values() if hasattr(each, "dimension")]
        if fields != [(self._place.dimension, METRIC)]:
            raise NotConfigured(
                f"The Pinecone index does not take vectors of {self._place.dimension} numbers compared by {METRIC}."
                " Set PINECONE_INDEX_NAME to a new name: the index is made anew."
            )

    async def close(self) -> None:
        """Close the connections, if any were opened."""
        for opened in (self._index, self._client):
            if opened is not None:
                await opened.close()

    async def put(self, entry: SummaryEntry) -> None:
        """Keep a summary, in place of an earlier one of its conversation."""
        await self._own.put(entry)
        metadata = {
            "user_id": entry.user,
            "conversation_id": entry.conversation_id,
            "title": _cut(entry.title),
            "created_at": entry.created_at.isoformat(),
            "model": entry.vector.model,
        }
        vector = {
            "id": vector_id(entry.user, entry.conversation_id),
            "values": list(entry.vector.values),
            "metadata": metadata,
        }
        async with _told():
            await (await self._opened()).upsert(vectors=[vector], show_progress=False)

    async def nearest(self, user: str, vector: Vector, limit: int) -> list[Match]:
        """Return the user's summaries nearest in meaning, the nearest first."""
        if limit <= 0:
            return []
        wanted = {"user_id": {"$eq": user}, "model": {"$eq": vector.model}}
        async with _told():
            answer = await (await self._opened()).query(
                vector=list(vector.values), top_k=limit, filter=wanted, include_metadata=True
            )
        found = [(hit.metadata or {}, hit.score) for hit in answer.matches]
        scores = {
            str(data.get("conversation_id")): score
            for data, score in found
            if (data.get("user_id"), data.get("model")) == (user, vector.model)
        }
        known = [replace(match, score=scores[match.conversation_id]) for match in await self.named(user, list(scores))]
        return sorted(known, key=lambda match: match.score, reverse=True)

    async def with_words(self, user: str, text: str, limit: int) -> list[Match]:
        """Return the user's summaries that share telling words with a text, those that share most first."""
        return await self._own.with_words(user, text, limit)

    async def named(self, user: str, conversation_ids: Sequence[str]) -> list[Match]:
        """Return the user's summaries of these conversations, those that there are."""
        return await self._own.named(user, conversation_ids)

    async def retitle(self, user: str, conversation_id: str, title: str) -> None:
        """Give a summary another title; what is shown comes from our own store."""
        await self._own.retitle(user, conversation_id, title)

    async def remove(self, user: str, conversation_id: str) -> None:
        """Forget a conversation's summary; one that is not there is fine."""
        async with _told():
            await (await self._opened()).delete(ids=[vector_id(user, conversation_id)])
        await self._own.remove(user, conversation_id)

    async def remove_all(self, user: str) -> None:
        """Forget all summaries of the user."""
        async with _told():
            await (await self._opened()).delete(filter={"user_id": {"$eq": user}})
        await self._own.remove_all(user)

    async def _opened(self) -> "AsyncIndex":
        async with self._opening:
            if self._index is None:
                self._index = await (await self._sdk()).index(self._place.index)
            return self._index

    async def _sdk(self) -> "AsyncPinecone":
        if self._client is None:
            self._client = await asyncio.to_thread(self._built)
        return self._client

    def _built(self) -> "AsyncPinecone":
        from pinecone import AsyncPinecone, RetryConfig

        return AsyncPinecone(
            self._api_key.get_secret_value(),
            host=self._place.base_url,
            timeout=SECONDS,
            retry_config=RetryConfig(max_retries=2, max_wait=MOST_WAIT_SECONDS),
        )

    async def _described(self) -> Any:
        from pinecone import NotFoundError, ServerlessSpec

        sdk = await self._sdk()
        try:
            return await sdk.indexes.describe(self._place.index)
        except NotFoundError:
            return await sdk.indexes.create(
                name=self._place.index,
                dimension=self._place.dimension,
                metric=METRIC,
                spec=ServerlessSpec(cloud=self._place.cloud, region=self._place.region),
                timeout=_SECONDS_TO_BE_READY,
            )


def vector_id(user: str, conversation_id: str) -> str:
    """Return the id of a vector: ASCII, at most 512 characters, and never the same for two users.

    A plain id has one part after its last hyphen, the conversation; a hashed one has no hyphen at all.
    """
    plain = f"{user}-{conversation_id}"
    if plain.isascii() and plain.isprintable() and len(plain) <= MOST_ID and "-" not in conversation_id:
        return plain
    whole = f"{len(user)}:{user}{conversation_id}".encode("utf-8", "surrogatepass")
    return f"sha256:{hashlib.sha256(whole).hexdigest()}"


def _cut(title: str) -> str:
    """Cut by bytes, and never inside a character."""
    return title.encode("utf-8", "replace")[:MOST_TITLE_BYTES].decode("utf-8", "ignore")


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """Say in plain words what went wrong."""
    from pinecone import NotFoundError, PineconeError, UnauthorizedError
    from pinecone.errors import ForbiddenError

    try:
        yield
    except (UnauthorizedError, ForbiddenError) as error:
        raise ServiceFailed(f"{NAME} does not accept the key.") from error
    except NotFoundError as error:
        raise ServiceFailed(f"The index of {NAME} is missing. Run `tertulia doctor`.") from error
    except PineconeError as error:
        raise ServiceFailed(f"{NAME} cannot be reached or refused.") from error
