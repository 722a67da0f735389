"""Makes a summary findable by its meaning."""

from dataclasses import dataclass

from tertulia.domain.summaries import SummaryEntry, Vector, text_to_index
from tertulia.ports import ConversationStore, Embedder
from tertulia.ports.follow_up import SummaryIndex
from tertulia.usecases.follow_up import conversation_or_none


@dataclass(frozen=True, kw_only=True)
class IndexSummary:
    """Embeds the summary of a conversation and keeps it in the index."""

    conversations: ConversationStore
    embedder: Embedder
    summaries: SummaryIndex

    async def __call__(self, user: str, conversation_id: str) -> None:
        """Index the summary as it is now; a conversation without one, or deleted meanwhile, is left out."""
        conversation = await conversation_or_none(self.conversations, user, conversation_id)
        if conversation is None or conversation.summarized_at is None:
            return
        [values] = await self.embedder.embed([text_to_index(conversation.title, conversation.overview)])
        entry = SummaryEntry(
            user=user,
            conversation_id=conversation_id,
            title=conversation.title,
            overview=conversation.overview,
            created_at=conversation.created_at,
            vector=Vector(tuple(values), self.embedder.name),
        )
        await self.summaries.put(entry)
        # Deleted between the two looks, it would be found for ever.
        if await conversation_or_none(self.conversations, user, conversation_id) is None:
            await self.summaries.remove(user, conversation_id)
