"""When a conversation is summarized: once it is quiet, or when a long talk was not summarized for a while."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tertulia.domain.errors import Conflict, NotFound
from tertulia.domain.turns import Conversation, Turn
from tertulia.ports import Clock, ConversationStore
from tertulia.ports.follow_up import Job, JobKind, JobQueue, SummaryWish

SETTLED_SECONDS = 30
"""How long after a turn its conversation counts as quiet, unless another turn came."""
MOST_SECONDS_WITHOUT = 300
"""A talk without a pause is summarized this often all the same."""


def is_due(turn: Turn, conversation: Conversation, last_turns: Sequence[Turn], now: datetime) -> bool:
    """Whether a settled turn should have its conversation summarized, or a later one will; turns are oldest first."""
    is_newest = not last_turns or turn.number >= last_turns[-1].number
    last_time = conversation.summarized_at or conversation.created_at
    return is_newest or now - last_time >= timedelta(seconds=MOST_SECONDS_WITHOUT)


@dataclass(frozen=True, kw_only=True)
class SummaryIsDue:
    """Asks, some time after a turn, whether its conversation is to be summarized now."""

    conversations: ConversationStore
    clock: Clock
    min_turns: int = 2

    async def __call__(self, user: str, conversation_id: str, turn_id: str) -> bool:
        """Return whether it is; a conversation deleted meanwhile, or too short, is not."""
        found = await self.conversations.find_turn(user, turn_id)
        if found is None or found[0].id != conversation_id:
            return False
        conversation, turn = found
        last_turns = await self.conversations.recent(conversation, self.min_turns)
        return len(last_turns) >= self.min_turns and is_due(turn, conversation, last_turns, self.clock.now())


@dataclass(frozen=True)
class QueuedFollowUp:
    """A FollowUp that puts the turn's jobs into a durable queue."""

    queue: JobQueue
    clock: Clock

    async def start(self, conversation: Conversation, turn: Turn) -> None:
        """Hand a turn over: its memories at once, the summary once the conversation is quiet."""
        due = {JobKind.MEMORIES: 0, JobKind.SUMMARY: SETTLED_SECONDS}
        await self.queue.add(
            [
                Job(
                    user=conversation.user,
                    conversation_id=conversation.id,
                    turn_id=turn.id,
                    kind=kind,
                    due_at=self.clock.now() + timedelta(seconds=seconds),
                )
                for kind, seconds in due.items()
            ]
        )

    async def summarize_now(self, conversation: Conversation, turn: Turn) -> None:
        """Have the conversation summarized as soon as the runner comes to it."""
        await self.queue.hasten(
            Job(
                user=conversation.user,
                conversation_id=conversation.id,
                turn_id=turn.id,
                kind=JobKind.SUMMARY,
                due_at=self.clock.now(),
            )
        )


@dataclass(frozen=True, kw_only=True)
class AskForSummary:
    """Has a conversation summarized because its user asks for it."""

    conversations: ConversationStore
    wish: SummaryWish
    min_turns: int = 2

    async def __call__(self, user: str, conversation_id: str) -> None:
        """Ask for it, unless it knows everything already; raises NotFound, and Conflict for a talk that is too short."""
        conversation = await self.conversations.get(user, conversation_id)
        turns = await self.conversations.recent(conversation, self.min_turns)
        if len(turns) < self.min_turns:
            raise Conflict(f"A conversation is summarized once it has {self.min_turns} answered questions.")
        if conversation.summarized_number < turns[-1].number:
            await self.wish.summarize_now(conversation, turns[-1])


async def conversation_or_none(store: ConversationStore, user: str, conversation_id: str) -> Conversation | None:
    """Return a conversation, or None where it was deleted meanwhile: then there is nothing to follow up."""
    try:
        return await store.get(user, conversation_id)
    except NotFound:
        return None
