"""All that belongs to a user, kind by kind: to be written into their export, and to be erased."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tertulia.domain.prompts import Json
from tertulia.domain.turns import Conversation, Page
from tertulia.ports import ConversationStore
from tertulia.usecases.forget import Forget
from tertulia.wire import turn_to_json

_TURNS_AT_ONCE = 200
_CONVERSATIONS_AT_ONCE = 50


@dataclass(frozen=True, kw_only=True)
class Listed:
    """What a store lists at once, and erases at once."""

    name: str
    listed: Callable[[str], Awaitable[list[Any]]]
    erased: Callable[[str], Awaitable[int]]

    async def lines(self, user: str) -> AsyncIterator[Mapping[str, Json]]:
        """Yield each of them as JSON."""
        for each in await self.listed(user):
            yield as_json(each)

    async def erase(self, user: str) -> int:
        """Erase them all."""
        return await self.erased(user)


@dataclass(frozen=True)
class Talks:
    """Conversations with all that hangs from them, each a line with its turns."""

    conversations: ConversationStore
    forget: Forget
    name: str = "conversations"

    async def lines(self, user: str) -> AsyncIterator[Mapping[str, Json]]:
        """Yield each of them as JSON."""
        cursor: str | None = None
        while True:
            page: Page[Conversation] = await self.conversations.page(user, cursor=cursor, limit=_CONVERSATIONS_AT_ONCE)
            for conversation in page.items:
                yield as_json(conversation) | {"turns": await self._turns(conversation)}
            cursor = page.cursor
            if cursor is None:
                return

    async def erase(self, user: str) -> int:
        """Erase them one by one, so that an erasure that was cut off goes on where it was."""
        count = 0
        while items := (await self.conversations.page(user, limit=_CONVERSATIONS_AT_ONCE)).items:
            for conversation in items:
                await self.forget(conversation)
                count += 1
        return count

    async def _turns(self, conversation: Conversation) -> list[Json]:
        written: list[Json] = []
        after = -1
        while turns := await self.conversations.turns(conversation, after, _TURNS_AT_ONCE):
            written += [turn_to_json(turn) for turn in turns]
            after = turns[-1].answer_number
        return written


def as_json(value: Any) -> dict[str, Json]:
    """Write a dataclass as JSON, its times as ISO 8601."""
    written: dict[str, Json] = json.loads(json.dumps(asdict(value), default=str))
    return written
