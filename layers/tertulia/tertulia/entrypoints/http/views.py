"""Conversations and their messages as clients see them."""

import json

from tertulia.domain.messages import Message, messages_of
from tertulia.domain.turns import Conversation, ToolUse, Turn
from tertulia.entrypoints.http.models import (
    AttachmentView,
    ConversationView,
    Function,
    MessageView,
    Receipt,
    ToolCall,
)


def conversation_view(conversation: Conversation) -> ConversationView:
    """Return a conversation as a list shows it."""
    return ConversationView(
        id=conversation.id,
        title=conversation.title,
        overview=conversation.overview,
        device_id=conversation.device_id,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        message_count=conversation.message_count,
        last_message=conversation.last_message,
    )


def message_views(turns: list[Turn], after: int = -1) -> list[MessageView]:
    """Return the messages of turns, those numbered above `after`."""
    return [_message_view(message) for turn in turns for message in messages_of(turn) if message.id > after]


def _message_view(message: Message) -> MessageView:
    turn = message.turn
    view = MessageView.model_validate(
        {
            "id": message.id,
            "role": message.role,
            "content": message.content,
            "created_at": message.created_at,
            "turn_id": turn.id,
        }
    )
    if message.tool is not None:
        return view.model_copy(update={"tool_name": message.tool.name, "content": _result_text(message.tool)})
    if message.role == "user":
        files = [
            AttachmentView(name=file.name, media_type=file.media_type, size=file.size) for file in turn.attachments
        ]
        return view.model_copy(update={"attachments": files or None})
    calls = [call.model_dump() for call in tool_calls(turn)]
    return view.model_copy(
        update={
            "tool_calls": json.dumps(calls, ensure_ascii=False) if calls else None,
            "route": turn.route,
            "interrupted": turn.interrupted or None,
            "memories_used": list(turn.memories_used) or None,
            "receipt": Receipt.model_validate(turn.receipt.as_json()),
        }
    )


def tool_calls(turn: Turn) -> list[ToolCall]:
    """Return the tool calls of a turn in the OpenAI shape."""
    return [
        ToolCall(
            id=use.call_id,
            function=Function(name=use.name, arguments=json.dumps(dict(use.arguments), ensure_ascii=False)),
        )
        for use in turn.tools
    ]


def _result_text(use: ToolUse) -> str:
    """Return a tool's result as JSON text; plain words become its one result."""
    try:
        result = json.loads(use.result)
    except ValueError:
        result = None
    if not isinstance(result, dict) or not isinstance(result.get("results"), list):
        result = {"results": [{"title": use.name, "summary": use.result[:200], "snippet": use.result}]}
    return json.dumps({"tool": use.name, **result}, ensure_ascii=False)
