"""Conversations and turns in DynamoDB."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, parts_of
from tertulia.adapters.aws.dynamodb_conversation_items import (
    all_turns_query,
    append_of,
    conversation_key,
    conversations_query,
    later_turns_query,
    part_keys,
    row_item,
    row_of,
    turn_head,
    turn_key,
    unchanged_conversations_query,
    whole_turns_query,
)
from tertulia.adapters.aws.dynamodb_turn_events import keys_of_events
from tertulia.adapters.conversation_rows import ConversationRow, first_row, new_conversation
from tertulia.adapters.cursors import Position, position_of, sortable
from tertulia.adapters.documents import turn_document, turn_of
from tertulia.domain.errors import NotFound, Unavailable
from tertulia.domain.summaries import Revision, Summary
from tertulia.domain.turns import Conversation, Page, Turn
from tertulia.ports import Clock

_MOST_ATTEMPTS = 6
_EVENTS_MAY_LIVE = timedelta(hours=25)


class DynamoConversations:
    """The conversation store of the cloud: an append is two writes, in an order that a repetition makes whole."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def open(self, user: str, conversation_id: str | None, device_id: str | None = None) -> Conversation:
        """Return the user's conversation, or a new one for None; NotFound for any other id."""
        if conversation_id is None:
            return new_conversation(user, device_id, self._clock.now())
        return await self.get(user, conversation_id)

    async def get(self, user: str, conversation_id: str) -> Conversation:
        """Return the user's conversation, or raise NotFound."""
        item = await self._table.get(conversation_key(user, conversation_id))
        if item is None:
            raise NotFound
        return row_of(item).conversation

    async def append(self, conversation: Conversation, turn: Turn) -> None:
        """Keep a turn once by its id, or in place of a failed one; NotFound when its conversation has been deleted."""
        await _until_it_holds(lambda: self._append(conversation, turn))

    async def summarize(self, conversation: Conversation, summary: Summary) -> None:
        """Keep what the conversation was about; NotFound when it was deleted meanwhile."""
        await _until_it_holds(lambda: self._summarize(conversation, summary))

    async def revise(self, conversation: Conversation, revision: Revision) -> Conversation:
        """Change what a person may change; NotFound for a deleted conversation or an unknown action item."""
        return await _until_it_holds(lambda: self._revise(conversation, revision))

    async def recent(self, conversation: Conversation, limit: int) -> list[Turn]:
        """Return the last `limit` whole turns, oldest first."""
        heads = await self._table.query(whole_turns_query(conversation, max(limit, 0)))
        return [await self._turn(head) for head in reversed(heads)]

    async def turns(self, conversation: Conversation, after_number: int = -1, limit: int = 500) -> list[Turn]:
        """Return turns whose last message number is above `after_number`, oldest first."""
        heads = await self._table.query(later_turns_query(conversation, after_number, max(limit, 0)))
        return [await self._turn(head) for head in heads]

    async def find_turn(self, user: str, turn_id: str) -> tuple[Conversation, Turn] | None:
        """Return a turn of the user's by its id, with its conversation."""
        head = await self._table.get(turn_key(user, turn_id))
        item = await self._table.get(conversation_key(user, head["conversation_id"])) if head else None
        return (row_of(item).conversation, await self._turn(head)) if head and item else None

    async def page(
        self, user: str, *, cursor: str | None = None, limit: int = 50, device_id: str | None = None
    ) -> Page[Conversation]:
        """List the user's conversations by last change, newest first; InvalidValue for a cursor not ours."""
        limit = max(limit, 1)
        below = position_of(cursor) if cursor is not None else None
        items, total = await asyncio.gather(
            self._table.query(conversations_query(user, below=below, device_id=device_id, most=limit + 1)),
            self._table.count(conversations_query(user, device_id=device_id)),
        )
        shown = items[:limit]
        following = Position(shown[-1]["updated_at"], shown[-1]["id"]).as_cursor() if len(items) > limit else None
        return Page(tuple(row_of(item).conversation for item in shown), following, total)

    async def older(self, user: str, before: datetime, limit: int = 100) -> list[Conversation]:
        """Return the user's conversations that did not change since then, the oldest first."""
        items = await self._table.query(unchanged_conversations_query(user, before, limit))
        return [row_of(item).conversation for item in items]

    async def delete(self, conversation: Conversation) -> None:
        """Delete a conversation with all its turns and their events."""
        await self._delete_turns(conversation)
        await self._table.delete(conversation_key(conversation.user, conversation.id))
        # A turn may have been stored before the row was gone; after that none can be.
        await self._delete_turns(conversation)

    async def delete_all(self, user: str) -> int:
        """Delete every conversation of the user; return how many."""
        items = await self._table.query(conversations_query(user))
        for item in items:
            await self.delete(row_of(item).conversation)
        return len(items)

    async def _append(self, conversation: Conversation, turn: Turn) -> None:
        head, item = await asyncio.gather(
            self._table.get(turn_key(conversation.user, turn.id)),
            self._table.get(conversation_key(conversation.user, conversation.id)),
        )
        replaced = await self._turn(head) if head else None
        if replaced and replaced.error is None:
            return
        if head and replaced and head["conversation_id"] != conversation.id:
            await self._take_out(head, replaced)
            head = replaced = None
        document = turn_document(turn)
        append = append_of(turn.id, document)
        before = row_of(item) if item else first_row(conversation)
        # The row comes first and names the turn: after a crash in between, the repetition does not count it twice.
        if item is None or item["last_append"] != append:
            await self._put_row(before.with_turn(turn, replaced, self._clock.now()), item, append)
        parts = parts_of(document)
        await self._put_turn(turn_head(conversation, turn, len(parts) - 1), parts, head)

    async def _summarize(self, conversation: Conversation, summary: Summary) -> None:
        item = await self._table.get(conversation_key(conversation.user, conversation.id))
        if item is None:
            raise NotFound
        before = row_of(item)
        if before.conversation.summarized_number < summary.last_number:
            await self._put_row(before.with_summary(summary), item, item["last_append"])

    async def _revise(self, conversation: Conversation, revision: Revision) -> Conversation:
        item = await self._table.get(conversation_key(conversation.user, conversation.id))
        if item is None:
            raise NotFound
        after = row_of(item).revised(revision)
        await self._put_row(after, item, item["last_append"])
        return after.conversation

    async def _put_row(self, row: ConversationRow, item: Item | None, append: str) -> None:
        version = item["version"] if item else 0
        after = {**row_item(row), "version": version + 1, "last_append": append}
        if item:
            await self._table.put(after, "#version = :version", {":version": version})
        else:
            await self._table.put(after, "attribute_not_exists(#pk)")

    async def _put_turn(self, head: Item, parts: list[str], replaced: Item | None) -> None:
        first, *more = parts
        for key, part in zip(part_keys(head), more, strict=True):
            await self._table.put({**key._asdict(), "document": part})
        try:
            await self._table.put({**head, "document": first}, "attribute_not_exists(#pk) OR attribute_exists(#error)")
        except ConditionFailed:
            await self._table.delete_all(part_keys(head))
            raise
        if replaced:
            await self._table.delete_all(part_keys(replaced))

    async def _turn(self, head: Item) -> Turn:
        parts = [await self._table.get(key) for key in part_keys(head)]
        if None in parts:
            raise Unavailable
        return turn_of("".join([head["document"], *(part["document"] for part in parts if part)]))

    async def _take_out(self, head: Item, turn: Turn) -> None:
        """Take a failed turn out of the conversation it was in; a conversation left empty goes too."""
        await self._table.delete_all([Key(head["pk"], head["sk"]), *part_keys(head)])
        item = await self._table.get(conversation_key(head["user"], head["conversation_id"]))
        if item is None:
            return
        left = row_of(item).without_turn(turn)
        if left:
            await self._put_row(left, item, item["last_append"])
        else:
            await self._table.delete(Key(item["pk"], item["sk"]), "#version = :version", {":version": item["version"]})

    async def _delete_turns(self, conversation: Conversation) -> None:
        heads = await self._table.query(all_turns_query(conversation))
        lately = sortable(self._clock.now() - _EVENTS_MAY_LIVE)
        keys = [key for head in heads for key in (*part_keys(head), Key(head["pk"], head["sk"]))]
        for head in heads:
            if head["answered_at"] > lately:
                keys += await keys_of_events(self._table, head["id"])
        await self._table.delete_all(keys)


async def _until_it_holds[T](write: Callable[[], Awaitable[T]]) -> T:
    """Try again where another write of the conversation came in between."""
    for attempt in range(_MOST_ATTEMPTS):
        try:
            return await write()
        except ConditionFailed:
            await asyncio.sleep(0.01 * 2**attempt)
    raise Unavailable
