"""All that belongs to a user, from every store, for their export and their deletion."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import TYPE_CHECKING, Any

from tertulia.domain.errors import NotConfigured
from tertulia.ports.user_jobs import Belongings
from tertulia.usecases.belongings import Listed, Talks
from tertulia.usecases.user_jobs import UserFiles, UserJobDesk

if TYPE_CHECKING:
    from tertulia.assistant import Assistant

_ALL = 1_000_000
_ACTIONS_AT_ONCE = 100
_BEFORE_EVERYTHING = date(2020, 1, 1)


def user_jobs(parts: "Assistant") -> UserJobDesk:
    """Build the desk where exports and deletions are asked for."""
    if parts.is_in_the_cloud:
        raise NotConfigured("Exports and deletions run on the local server.")
    from tertulia.adapters.embedded.sqlite_user_jobs import SqliteUserJobs

    files: Any = parts.stores.blobs
    return UserJobDesk(
        jobs=SqliteUserJobs(parts.database),
        belongings=belongings(parts),
        files=UserFiles(blobs=parts.blobs, keys=files, clock=parts.clock),
        stream=parts.user_stream,
        clock=parts.clock,
    )


def belongings(parts: "Assistant") -> tuple[Belongings, ...]:
    """Return every kind of what a user has; tokens go last, so that whoever asked can look how far it is."""
    return (
        Listed(name="reminders", listed=parts.reminders.open, erased=parts.reminders.erase),
        Listed(
            name="todos",
            listed=lambda user: parts.stores.todos.list(user, with_done=True),
            erased=parts.stores.todos.delete_all,
        ),
        Talks(parts.conversations, parts.forget),
        Listed(
            name="memories",
            listed=lambda user: parts.memories.list(user, _ALL),
            erased=_counted(lambda user: parts.memories.list(user, _ALL), parts.memories.forget_all),
        ),
        Listed(name="actions", listed=lambda user: _actions(parts, user), erased=parts.journal.delete_all),
        Listed(name="confirmations", listed=_nothing, erased=parts.confirmations.delete_all),
        Listed(
            name="usage",
            listed=lambda user: parts.usage.days(user, _BEFORE_EVERYTHING),
            erased=_counted(lambda user: parts.usage.days(user, _BEFORE_EVERYTHING), parts.usage.remove),
        ),
        Listed(name="events", listed=lambda user: parts.user_events.read(user, 0), erased=parts.user_events.delete_all),
        Listed(name="devices", listed=_nothing, erased=lambda user: _revoked_devices(parts, user)),
        Listed(
            name="settings",
            listed=lambda user: _one(parts.users.settings(user)),
            erased=_counted(_single, parts.users.remove),
        ),
        Listed(name="model choices", listed=_nothing, erased=lambda user: _unchosen(parts, user)),
        Listed(name="tokens", listed=_nothing, erased=lambda user: _revoked_tokens(parts, user)),
    )


def _counted(
    listed: Callable[[str], Awaitable[list[Any]]], erase: Callable[[str], Awaitable[None]]
) -> Callable[[str], Awaitable[int]]:
    """Count what a store that erases without a word is about to erase."""

    async def erased(user: str) -> int:
        count = len(await listed(user))
        await erase(user)
        return count

    return erased


async def _nothing(_: str) -> list[Any]:
    return []


async def _single(_: str) -> list[Any]:
    return [None]


async def _one(found: Awaitable[Any]) -> list[Any]:
    return [await found]


async def _actions(parts: "Assistant", user: str) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = await parts.journal.page(user, cursor=cursor, limit=_ACTIONS_AT_ONCE)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


async def _unchosen(parts: "Assistant", user: str) -> int:
    """Forget a choice of models with its key, which no export shows."""
    choice = await parts.llm_choices.find(user)
    await parts.llm_choices.remove(user)
    return int(choice is not None)


async def _revoked_devices(parts: "Assistant", user: str) -> int:
    devices = await parts.stores.devices.of(user)
    for device in devices:
        await parts.stores.devices.revoke(user, device.id, parts.clock.now())
    return len(devices)


async def _revoked_tokens(parts: "Assistant", user: str) -> int:
    tokens = await parts.tokens.list(user)
    for token in tokens:
        await parts.tokens.revoke(user, token.id)
    return len(tokens)
