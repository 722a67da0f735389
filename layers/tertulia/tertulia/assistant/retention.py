"""How things are forgotten, by the settings."""

from typing import TYPE_CHECKING

from tertulia.usecases.forget import Forget
from tertulia.usecases.forget_old import ForgetOld, OldThings

if TYPE_CHECKING:
    from tertulia.assistant import Assistant


def forget(parts: "Assistant") -> Forget:
    """Build what deletes a conversation with all that hangs from it."""
    return Forget(
        conversations=parts.conversations,
        blobs=parts.blobs,
        summaries=parts.summaries,
        confirmations=parts.confirmations,
        journal=parts.journal,
    )


def forget_old(parts: "Assistant") -> ForgetOld:
    """Build the daily run."""
    old = OldThings(
        conversations=parts.stores.conversations,
        files=parts.stores.blobs,
        # A rule of the bucket deletes them, at no cost for asking.
        uploads=None if parts.is_in_the_cloud else parts.stores.blobs,
        blobs=parts.blobs,
        forget=parts.forget,
    )
    return ForgetOld(
        users=parts.users,
        old=old,
        clock=parts.clock,
        days=parts.settings.retention_days,
        user_without_account=None if parts.is_in_the_cloud else parts.settings.user_id,
    )
