"""Conversations: listed, read, titled, deleted."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator, BaseModel, Field

from tertulia.assistant import Assistant
from tertulia.domain.summaries import MOST_ITEMS, MOST_TITLE_CHARACTERS, Revision
from tertulia.domain.turns import Conversation, Page, Turn
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.fields import MOST_NUMBER, Absent, ConversationInPath, Label
from tertulia.entrypoints.http.models import ConversationDetail, ConversationList, MessageList
from tertulia.entrypoints.http.views import conversation_view, message_views
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/chat/conversations", tags=["conversations"])

PAGE_SIZE = 50
TURNS_AT_ONCE = 500

AfterId = Annotated[Annotated[int, Field(ge=-1, le=MOST_NUMBER)] | None, Absent, Query()]


def title_checked(title: str) -> str:
    """Return a title on one line; raises ValueError for a blank one and what no text can hold."""
    words = " ".join(title.split())
    if not words.isprintable() or not words:
        raise ValueError("is blank, or holds characters that cannot be printed")
    return words


class Wish(BaseModel):
    """Which part of the list is asked for."""

    device_id: Label = None
    page: Annotated[Annotated[int, Field(ge=1, le=1000)] | None, Absent] = None
    page_size: Annotated[Annotated[int, Field(ge=1, le=100)] | None, Absent] = None
    cursor: Annotated[Annotated[str, Field(max_length=512)] | None, Absent] = None


class ItemChange(BaseModel):
    """Whether an action item is done."""

    id: Annotated[str, Field(max_length=64)]
    done: bool


class ConversationChanges(BaseModel):
    """What is changed; absent stays as it is."""

    title: Annotated[
        Annotated[str, Field(max_length=MOST_TITLE_CHARACTERS), AfterValidator(title_checked)] | None, Absent
    ] = None
    action_items: Annotated[Annotated[list[ItemChange], Field(max_length=MOST_ITEMS)] | None, Absent] = None


@router.get("", responses=READING)
async def conversations(wish: Annotated[Wish, Query()], assistant: Parts, user: User) -> ConversationList:
    """List conversations, the last changed first."""
    found: Page[Conversation] = Page((), wish.cursor)
    for place in range(wish.page or 1):
        if place and found.cursor is None:
            found = Page(())
            break
        found = await assistant.conversations.page(
            user, cursor=found.cursor, limit=wish.page_size or PAGE_SIZE, device_id=wish.device_id
        )
    return ConversationList(conversations=[conversation_view(each) for each in found.items], cursor=found.cursor)


@router.get("/{id}", responses=READING, response_model_exclude_none=True)
async def conversation(conversation_id: ConversationInPath, assistant: Parts, user: User) -> ConversationDetail:
    """Return a conversation with all its messages."""
    return await _detail(assistant, await assistant.conversations.get(user, conversation_id))


@router.get("/{id}/messages", responses=READING, response_model_exclude_none=True)
async def messages(
    conversation_id: ConversationInPath, assistant: Parts, user: User, after_id: AfterId = None
) -> MessageList:
    """Return the messages whose number is above `after_id`, any number will do."""
    kept = await assistant.conversations.get(user, conversation_id)
    after = -1 if after_id is None else after_id
    return MessageList(messages=message_views(await _turns(assistant, kept, after), after))


@router.patch("/{id}", responses=READING, response_model_exclude_none=True)
async def change(
    conversation_id: ConversationInPath, changes: ConversationChanges, assistant: Parts, user: User
) -> ConversationDetail:
    """Give a conversation a title, which no summary changes any more, or tick action items off."""
    kept = await assistant.conversations.get(user, conversation_id)
    done = {item.id: item.done for item in changes.action_items or ()}
    revised = await assistant.conversations.revise(kept, Revision(title=changes.title, done=done))
    if changes.title is not None:
        await assistant.summaries.retitle(user, revised.id, revised.title)
    return await _detail(assistant, revised)


@router.post("/{id}/summarize", status_code=202, responses=problems(401, 409), response_class=Response)
async def summarize(conversation_id: ConversationInPath, assistant: Parts, user: User) -> Response:
    """Have a conversation summarized now, without waiting until it is quiet."""
    await assistant.ask_for_summary(user, conversation_id)
    return Response(status_code=202)


@router.delete("/{id}", status_code=204, responses=READING, response_class=Response)
async def delete(conversation_id: ConversationInPath, assistant: Parts, user: User) -> Response:
    """Delete a conversation with all that hangs from it."""
    kept = await assistant.conversations.get(user, conversation_id)
    await assistant.forget(kept)
    return Response(status_code=204)


@router.delete("", status_code=204, responses=READING, response_class=Response)
async def delete_all(assistant: Parts, user: User) -> Response:
    """Delete every conversation of the user's."""
    found: Page[Conversation] = Page((), "")
    while found.cursor is not None:
        found = await assistant.conversations.page(user, cursor=found.cursor or None)
        for kept in found.items:
            await assistant.forget(kept)
    await assistant.summaries.remove_all(user)
    await assistant.conversations.delete_all(user)
    return Response(status_code=204)


async def _detail(assistant: Assistant, kept: Conversation) -> ConversationDetail:
    return ConversationDetail(
        **conversation_view(kept).model_dump(exclude={"message_count", "last_message"}),
        action_items=list(kept.action_items),
        messages=message_views(await _turns(assistant, kept)),
    )


async def _turns(assistant: Assistant, conversation: Conversation, after: int = -1) -> list[Turn]:
    turns: list[Turn] = []
    while True:
        more = await assistant.conversations.turns(conversation, after, TURNS_AT_ONCE)
        turns += more
        if len(more) < TURNS_AT_ONCE:
            return turns
        after = more[-1].answer_number
