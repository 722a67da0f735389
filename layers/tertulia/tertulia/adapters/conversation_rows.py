"""What a conversation's row says, kept right turn by turn: the same in every store."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from tertulia.adapters.documents import from_document, storable, to_document
from tertulia.domain.errors import NotFound
from tertulia.domain.messages import LAST_MESSAGE_CHARACTERS, messages_of
from tertulia.domain.summaries import ActionItem, Revision, Summary
from tertulia.domain.turns import Conversation, Turn, title_from

_ID_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class ConversationRow:
    """A conversation as it is stored."""

    conversation: Conversation
    last_number: int = -1
    """The number of the turn that `last_message` is from."""

    def with_turn(self, turn: Turn, replaced: Turn | None, now: datetime) -> "ConversationRow":
        """Return the row after a turn was kept, in place of a failed one where there is one."""
        before = self.conversation
        # A failed turn's retry may carry a lower number, and its words must go with it.
        is_last = turn.number >= self.last_number or (replaced is not None and replaced.number == self.last_number)
        after = replace(
            before,
            title=before.title or storable(title_from(turn.text)),
            updated_at=now,
            message_count=before.message_count + count_messages(turn) - (count_messages(replaced) if replaced else 0),
            last_message=storable(turn.text[:LAST_MESSAGE_CHARACTERS]) if is_last else before.last_message,
        )
        return ConversationRow(conversation=after, last_number=turn.number if is_last else self.last_number)

    def with_summary(self, summary: Summary) -> "ConversationRow":
        """Return the row with a new summary; being summarized is no change that lists are sorted by."""
        # What the user did while the summary was written holds.
        digest = summary.digest.keeping_what_is_done(self.conversation.action_items)
        title = self.conversation.title if self.conversation.is_titled else storable(digest.title)
        after = replace(
            self.conversation,
            title=title or self.conversation.title,
            overview=storable(digest.overview),
            action_items=digest.action_items,
            summarized_number=summary.last_number,
            summarized_at=summary.made_at,
        )
        return replace(self, conversation=after)

    def revised(self, revision: Revision) -> "ConversationRow":
        """Return the row as its user changed it; raises NotFound for an unknown action item."""
        before = self.conversation
        after = replace(
            before,
            title=before.title if revision.title is None else storable(revision.title),
            is_titled=before.is_titled or revision.title is not None,
            action_items=revision.of_items(before.action_items),
        )
        return replace(self, conversation=after)

    def without_turn(self, turn: Turn) -> "ConversationRow | None":
        """Return the row after a failed turn went to another conversation, or None when nothing is left."""
        count = self.conversation.message_count - count_messages(turn)
        return replace(self, conversation=replace(self.conversation, message_count=count)) if count > 0 else None


def new_conversation(user: str, device_id: str | None, now: datetime) -> Conversation:
    """Open a conversation with an id that nobody can guess."""
    return Conversation(id=secrets.token_hex(_ID_BYTES), user=user, created_at=now, updated_at=now, device_id=device_id)


def first_row(conversation: Conversation) -> ConversationRow:
    """Return the row to begin with where none is stored; NotFound if there was one, since it was deleted meanwhile."""
    if conversation.message_count:
        raise NotFound
    return ConversationRow(conversation=conversation)


def items_document(items: Sequence[ActionItem]) -> str:
    """Write action items."""
    return to_document([asdict(item) for item in items])


def items_of(document: str) -> tuple[ActionItem, ...]:
    """Read action items."""
    return tuple(ActionItem(**item) for item in from_document(document))


def count_messages(turn: Turn) -> int:
    """Return how many messages clients see of a turn."""
    return sum(1 for _ in messages_of(turn))


def last_message_number(turn: Turn) -> int:
    """Return the number of a turn's last message."""
    return max(message.id for message in messages_of(turn))
