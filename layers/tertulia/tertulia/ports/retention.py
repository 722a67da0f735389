"""What stores tell of old things, so that they can be deleted; the adapters of the other ports serve these too."""

from datetime import datetime
from typing import Protocol

from tertulia.domain.turns import Conversation


class OldConversations(Protocol):
    """Conversations by their age."""

    async def older(self, user: str, before: datetime, limit: int = 100) -> list[Conversation]:
        """Return the user's conversations that did not change since then, the oldest first."""
        ...


class OldFiles(Protocol):
    """Files by their age."""

    async def older(self, user: str, before: datetime, prefix: str = "") -> list[str]:
        """Return the keys of the user's files made before then, of those whose key begins so."""
        ...
