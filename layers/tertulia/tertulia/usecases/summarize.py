"""Says what a conversation was about: from the last summary and the turns since, so that no turn is read twice."""

from dataclasses import dataclass, replace

from tertulia.domain.due_dates import with_dates
from tertulia.domain.errors import NotFound
from tertulia.domain.summaries import Summary
from tertulia.domain.turns import Conversation, Turn
from tertulia.ports import Clock, ConversationStore
from tertulia.ports.accounts import UserStore
from tertulia.ports.follow_up import Summarizer
from tertulia.usecases.follow_up import conversation_or_none

TURNS_AT_ONCE = 12
"""How many turns one call of the model reads; a longer backlog is folded in piece by piece."""


@dataclass(frozen=True, kw_only=True)
class Summarize:
    """Keeps the title, the overview and the action items of a conversation up to date."""

    conversations: ConversationStore
    summarizer: Summarizer
    clock: Clock
    users: UserStore | None = None
    """Where the zones of users are known, in which due dates are worked out."""

    async def __call__(self, user: str, conversation_id: str, turn_id: str) -> Summary | None:
        """Return the summary that knows the turn, made now unless it was before; None for a deleted conversation."""
        conversation = await conversation_or_none(self.conversations, user, conversation_id)
        if conversation is None or await self.conversations.find_turn(user, turn_id) is None:
            return None
        try:
            while turns := await self.conversations.turns(conversation, conversation.summarized_number, TURNS_AT_ONCE):
                await self._fold_in(conversation, turns)
                conversation = await self.conversations.get(user, conversation_id)
        except NotFound:
            return None
        if conversation.summarized_at is None:
            return None
        return Summary(
            digest=conversation.digest, last_number=conversation.summarized_number, made_at=conversation.summarized_at
        )

    async def _fold_in(self, conversation: Conversation, turns: list[Turn]) -> None:
        answered = [turn for turn in turns if turn.is_whole]
        before = conversation.digest
        digest = before
        if answered:
            digest = await self.summarizer.digest(before, answered)
            digest = replace(
                digest, action_items=with_dates(digest.action_items, answered, await self._zone(conversation))
            )
        summary = Summary(
            digest=digest.keeping_what_is_done(before.action_items),
            last_number=turns[-1].answer_number,
            made_at=self.clock.now(),
        )
        await self.conversations.summarize(conversation, summary)

    async def _zone(self, conversation: Conversation) -> str | None:
        return (await self.users.settings(conversation.user)).timezone if self.users else None
