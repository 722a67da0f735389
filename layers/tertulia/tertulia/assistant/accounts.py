"""How users are known: their accounts, and who asks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tertulia.ports.accounts import IdentityProvider
from tertulia.settings import Settings
from tertulia.usecases.accounts import Accounts
from tertulia.usecases.callers import Callers
from tertulia.usecases.wishes import Wishes

if TYPE_CHECKING:
    from tertulia.assistant import Assistant


def accounts(parts: "Assistant") -> Accounts:
    """Build what makes users and tokens."""
    return Accounts(parts.users, parts.tokens, parts.clock, parts.settings.user_id)


def wishes(parts: "Assistant") -> Wishes:
    """Build what tells turns what their users wish for."""
    return Wishes(parts.users)


def callers(parts: "Assistant", configured: Mapping[str, str]) -> Callers:
    """Build what tells who asks; `configured` are tokens that the settings name, with their users."""
    return Callers(
        tokens=parts.tokens,
        sessions=parts.sessions,
        users=parts.users,
        clock=parts.clock,
        configured=configured,
        provider=_identity_provider(parts.settings),
    )


def _identity_provider(settings: Settings) -> IdentityProvider | None:
    if settings.user_pool is None or settings.user_pool_client is None:
        return None
    from tertulia.adapters.aws.cognito import CognitoPool

    return CognitoPool(settings.user_pool, settings.user_pool_client)
