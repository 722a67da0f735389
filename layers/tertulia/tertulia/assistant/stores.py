"""Where things are kept: on this machine or in the cloud, by the profile."""

from typing import TYPE_CHECKING

from tertulia.ports import BlobStore, ConversationStore, TurnClaims, TurnEvents
from tertulia.ports.accounts import SessionStore, TokenStore, UserStore
from tertulia.ports.transfers import Transfers

if TYPE_CHECKING:
    from tertulia.adapters.aws.stores import AwsStores
    from tertulia.adapters.embedded.stores import EmbeddedStores
    from tertulia.assistant import Assistant


def stores(parts: "Assistant") -> "EmbeddedStores | AwsStores":
    """Build the stores of the profile."""
    settings = parts.settings
    if parts.is_in_the_cloud:
        from tertulia.adapters.aws.stores import AwsStores

        return AwsStores(settings.table_name, settings.bucket_name, parts.clock)
    from tertulia.adapters.embedded.stores import EmbeddedStores

    return EmbeddedStores(parts.database, settings.data_dir / "files", parts.clock)


def conversations(parts: "Assistant") -> ConversationStore:
    """Return where conversations are kept."""
    return parts.stores.conversations


def claims(parts: "Assistant") -> TurnClaims:
    """Return who asked first."""
    return parts.stores.claims


def events(parts: "Assistant") -> TurnEvents:
    """Return the events of turns, for replays."""
    return parts.stores.events


def blobs(parts: "Assistant") -> BlobStore:
    """Return where files are kept."""
    return parts.stores.blobs


def transfers(parts: "Assistant") -> Transfers | None:
    """Return how clients send and fetch large files themselves; None where they need not."""
    return parts.stores.transfers


def users(parts: "Assistant") -> UserStore:
    """Return users and their settings."""
    return parts.stores.users


def tokens(parts: "Assistant") -> TokenStore:
    """Return personal tokens."""
    return parts.stores.tokens


def sessions(parts: "Assistant") -> SessionStore:
    """Return sessions of pages."""
    return parts.stores.sessions
