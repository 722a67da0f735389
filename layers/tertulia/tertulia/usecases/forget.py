"""A conversation is forgotten with all that hangs from it: its files, summary, waiting steps, journal, turns and events."""

from dataclasses import dataclass

from tertulia.domain.turns import Conversation
from tertulia.ports import BlobStore, ConversationStore
from tertulia.ports.follow_up import SummaryIndex
from tertulia.ports.safety import ConfirmationStore, Journal

_TURNS_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class Forget:
    """Deletes conversations; the conversation itself goes last, so that a repetition finds what is left."""

    conversations: ConversationStore
    blobs: BlobStore
    summaries: SummaryIndex
    confirmations: ConfirmationStore
    journal: Journal

    async def __call__(self, conversation: Conversation) -> None:
        """Delete a conversation and all that hangs from it; one that is gone already is fine."""
        for key in await self._files(conversation):
            await self.blobs.remove(conversation.user, key)
        await self.summaries.remove(conversation.user, conversation.id)
        await self.confirmations.forget(conversation.user, conversation.id)
        await self.journal.forget(conversation.user, conversation.id)
        await self.conversations.delete(conversation)

    async def _files(self, conversation: Conversation) -> list[str]:
        keys: list[str] = []
        after = -1
        while True:
            turns = await self.conversations.turns(conversation, after, _TURNS_AT_ONCE)
            keys += [file.key for turn in turns for file in turn.attachments if file.key]
            if len(turns) < _TURNS_AT_ONCE:
                return keys
            after = turns[-1].answer_number
