"""Conversations and turns as items of the table: their keys, their attributes, and the queries that list them."""

import hashlib
import secrets
from datetime import datetime

from tertulia.adapters.aws.dynamodb import Item, Key, Query
from tertulia.adapters.conversation_rows import ConversationRow, items_document, items_of, last_message_number
from tertulia.adapters.cursors import Position, sortable
from tertulia.domain.turns import NUMBERS_A_TURN, Conversation, Turn

_ABOVE_ALL_CONVERSATIONS = "C$"
"""The character after `#`: above every `C#…`, and nothing is listed below those."""


def conversation_key(user: str, conversation_id: str) -> Key:
    """Return where a conversation is."""
    return Key(_partition(user), f"CONVERSATION#{conversation_id}")


def turn_key(user: str, turn_id: str) -> Key:
    """Return where a turn is."""
    return Key(_partition(user), f"TURN#{turn_id}")


def part_keys(head: Item) -> list[Key]:
    """Return where the rest of a turn is that does not fit its item."""
    return [Key(head["pk"], f"{head['sk']}#{head['parts_name']}#{place:03d}") for place in range(head["parts"])]


def conversations_query(
    user: str, *, below: Position | None = None, device_id: str | None = None, most: int | None = None
) -> Query:
    """List a user's conversations, newest first."""
    above = f"C#{below.changed}#{below.id}" if below else _ABOVE_ALL_CONVERSATIONS
    return Query(
        pk=_partition(user),
        condition="#listed < :above",
        values={":above": above} | ({":device": device_id} if device_id is not None else {}),
        keep="#device_id = :device" if device_id is not None else "",
        listing=True,
        newest_first=True,
        most=most,
    )


def unchanged_conversations_query(user: str, before: datetime, most: int) -> Query:
    """List a user's conversations that did not change since then, the oldest first."""
    values = {":first": "C#", ":before": f"C#{sortable(before)}"}
    condition = "#listed BETWEEN :first AND :before"
    return Query(pk=_partition(user), condition=condition, values=values, listing=True, most=most)


def all_turns_query(conversation: Conversation) -> Query:
    """List the turns of a conversation."""
    return Query(
        pk=_partition(conversation.user),
        condition="begins_with(#listed, :turns)",
        values={":turns": _turns_of(conversation)},
        listing=True,
    )


def whole_turns_query(conversation: Conversation, most: int) -> Query:
    """List the last turns of a conversation that have an answer, newest first."""
    return Query(
        pk=_partition(conversation.user),
        condition="begins_with(#listed, :turns)",
        values={":turns": _turns_of(conversation), ":yes": True},
        keep="#is_whole = :yes",
        listing=True,
        newest_first=True,
        most=most,
    )


def later_turns_query(conversation: Conversation, after_number: int, most: int) -> Query:
    """List the turns of a conversation with messages after a number; a turn begins up to 16 numbers before its end."""
    prefix = _turns_of(conversation)
    first = f"{prefix}{max(after_number - NUMBERS_A_TURN, 0):016d}"
    return Query(
        pk=_partition(conversation.user),
        condition="#listed BETWEEN :first AND :end",
        values={":first": first, ":end": f"{prefix}~", ":after": after_number},
        keep="#last_number > :after",
        listing=True,
        most=most,
    )


def row_item(row: ConversationRow) -> Item:
    """Return a conversation as an item."""
    kept = row.conversation
    changed = sortable(kept.updated_at)
    return {
        **conversation_key(kept.user, kept.id)._asdict(),
        "listed": f"C#{changed}#{kept.id}",
        "id": kept.id,
        "user": kept.user,
        "device_id": kept.device_id,
        "title": kept.title,
        "is_titled": kept.is_titled,
        "overview": kept.overview,
        "action_items": items_document(kept.action_items),
        "summarized_number": kept.summarized_number,
        "summarized_at": sortable(kept.summarized_at) if kept.summarized_at else None,
        "message_count": kept.message_count,
        "last_message": kept.last_message,
        "last_number": row.last_number,
        "created_at": sortable(kept.created_at),
        "updated_at": changed,
    }


def row_of(item: Item) -> ConversationRow:
    """Read a conversation."""
    conversation = Conversation(
        id=item["id"],
        user=item["user"],
        created_at=datetime.fromisoformat(item["created_at"]),
        updated_at=datetime.fromisoformat(item["updated_at"]),
        title=item["title"],
        is_titled=item.get("is_titled", False),
        overview=item["overview"],
        device_id=item.get("device_id"),
        message_count=item["message_count"],
        last_message=item["last_message"],
        action_items=items_of(item["action_items"]),
        summarized_number=item.get("summarized_number", -1),
        summarized_at=datetime.fromisoformat(item["summarized_at"]) if item.get("summarized_at") else None,
    )
    return ConversationRow(conversation=conversation, last_number=item["last_number"])


def turn_head(conversation: Conversation, turn: Turn, parts: int) -> Item:
    """Return the item of a turn, without its document."""
    return {
        **turn_key(conversation.user, turn.id)._asdict(),
        "listed": f"{_turns_of(conversation)}{turn.number:016d}#{turn.id}",
        "id": turn.id,
        "user": conversation.user,
        "conversation_id": conversation.id,
        "last_number": last_message_number(turn),
        "answered_at": sortable(turn.answered_at),
        "is_whole": turn.is_whole,
        "error": turn.error,
        "parts": parts,
        # Each write names its parts anew, so that a reader never joins parts of two.
        "parts_name": secrets.token_hex(4),
    }


def append_of(turn_id: str, document: str) -> str:
    """Name one append of a turn: a repetition has the same name, a retry with another outcome has not."""
    return f"{turn_id}@{hashlib.sha256(document.encode()).hexdigest()[:16]}"


def _partition(user: str) -> str:
    return f"USER#{user}"


def _turns_of(conversation: Conversation) -> str:
    return f"T#{conversation.id}#"
