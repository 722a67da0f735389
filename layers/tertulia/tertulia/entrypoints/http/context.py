"""What every router gets from the application it is part of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from tertulia.assistant import Assistant
from tertulia.assistant.accounts import callers
from tertulia.domain.accounts import UserSettings
from tertulia.entrypoints.http.fields import IdempotencyKey
from tertulia.entrypoints.http.sse import StreamHabits
from tertulia.entrypoints.http.who import Door, User
from tertulia.settings import Settings

CLOUD_BODY_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where the application runs, as far as its manners depend on it."""

    hosts: frozenset[str] | None = frozenset()
    """Host names it answers to beside loopback; None answers to all, behind a gateway that checks them."""
    origins: tuple[str, ...] = ()
    most_body_bytes: int | None = None
    habits: StreamHabits = field(default_factory=StreamHabits)
    users: Mapping[str, str] = field(default_factory=dict)
    """Tokens with their users."""
    visitor: str | None = None
    """Whom a request without a token is served as."""
    is_guarded: bool = False
    """Whether a gateway before the application tells who asks."""

    @classmethod
    def of(cls, settings: Settings) -> "Surroundings":
        """Return what the settings say."""
        is_local = settings.profile == "embedded"
        token = settings.api_token.get_secret_value() if settings.api_token else None
        return cls(
            hosts=frozenset(name.lower() for name in (settings.host, *settings.allowed_hosts)) if is_local else None,
            origins=settings.cors_origins,
            most_body_bytes=None if is_local else CLOUD_BODY_BYTES,
            habits=StreamHabits(quiet_seconds=None if is_local else settings.cloud_seconds),
            users={token: settings.user_id} if is_local and token else {},
            is_guarded=not is_local,
            visitor=settings.user_id if is_local and not token else None,
        )

    def door(self, assistant: Assistant) -> Door:
        """Return how the application tells who comes in."""
        return Door(
            make_callers=lambda: callers(assistant, self.users), visitor=self.visitor, is_guarded=self.is_guarded
        )


def _assistant(request: Request) -> Assistant:
    assistant: Assistant = request.app.state.assistant
    return assistant


def _habits(request: Request) -> StreamHabits:
    habits: StreamHabits = request.app.state.surroundings.habits
    return habits


async def _wishes(user: User, request: Request) -> UserSettings:
    return await _assistant(request).wishes.settings(user)


Parts = Annotated[Assistant, Depends(_assistant)]
"""The application object."""
Habits = Annotated[StreamHabits, Depends(_habits)]
"""How event streams behave here."""
Wished = Annotated[UserSettings, Depends(_wishes)]
"""What the user wishes for where the request names nothing."""


@dataclass(frozen=True, kw_only=True)
class TurnCall:
    """A request for a turn, with all that answering it takes."""

    request: Request
    assistant: Parts
    habits: Habits
    user: User
    key: IdempotencyKey = None


Call = Annotated[TurnCall, Depends()]
"""A request for a turn."""
