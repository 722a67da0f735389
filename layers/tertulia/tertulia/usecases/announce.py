"""A stored turn is told to the other pages of its user, while it is handed over to its follow-up."""

import asyncio
import logging
from dataclasses import dataclass

from tertulia.domain.errors import TertuliaError
from tertulia.domain.turns import Conversation, Turn
from tertulia.domain.user_events import UserEvent
from tertulia.ports.follow_up import FollowUp
from tertulia.usecases.user_stream import UserStream

logger = logging.getLogger(__name__)

EVENT = "turn"


@dataclass(frozen=True)
class Announced:
    """A FollowUp that tells the user's stream too."""

    follow_up: FollowUp
    stream: UserStream

    async def start(self, conversation: Conversation, turn: Turn) -> None:
        """Hand the turn over; a page that is not told finds it when it looks again."""
        event = UserEvent(
            name=EVENT, data={"turn_id": turn.id, "conversation_id": conversation.id}, key=f"turn {turn.id}"
        )
        handing = asyncio.create_task(self.follow_up.start(conversation, turn))
        try:
            await self.stream.publish(conversation.user, event)
        except TertuliaError as error:
            logger.warning("a turn was not told to its user's pages: %s", error.code)
        await handing
