"""Waiting steps and the journal of actions in DynamoDB."""

from dataclasses import replace
from datetime import datetime

from ulid import ULID

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import Position, position_of, sortable
from tertulia.adapters.safety_documents import (
    JOURNAL_KEPT_FOR,
    action_document,
    action_of,
    confirmation_document,
    confirmation_of,
)
from tertulia.domain.actions import Action, NotUndoable
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.errors import NotFound
from tertulia.domain.turns import Page
from tertulia.ports import Clock

_STEPS = "CONFIRMATION#"
_ENTRIES = "ACTION#"
_LAST = "~"
"""Sorts after every id."""
_BETWEEN = "#sk BETWEEN :bottom AND :top"
_TIME_DIGITS = 10
"""So many characters of an id tell its millisecond."""


class DynamoConfirmations:
    """Steps that wait for a yes in the cloud."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def ask(self, confirmation: Confirmation) -> None:
        """Keep a step; the table lets go of it later."""
        await self._table.put(
            {
                **_step(confirmation.user, confirmation.id)._asdict(),
                "conversation_id": confirmation.conversation_id,
                "ends_at": sortable(confirmation.expires_at),
                "document": confirmation_document(confirmation),
                "expires_at": int(confirmation.expires_at.timestamp()) + 60,
            }
        )

    async def waiting(self, user: str, conversation_id: str) -> Confirmation | None:
        """Return the step that was asked about last in a conversation, if its time is not over."""
        now = sortable(self._clock.now())
        found = [
            item for item in await self._table.query(_some(user, _STEPS, conversation_id)) if item["ends_at"] > now
        ]
        return confirmation_of(found[0]["document"]) if found else None

    async def take(self, user: str, confirmation_id: str) -> Confirmation:
        """Hand a step out, to one taker alone."""
        key = _step(user, confirmation_id)
        found = await self._table.get(key)
        if found is None or found["ends_at"] <= sortable(self._clock.now()):
            raise NotFound
        try:
            await self._table.delete(key, "attribute_exists(#sk)")
        except ConditionFailed as error:
            raise NotFound from error
        return confirmation_of(found["document"])

    async def forget(self, user: str, conversation_id: str) -> None:
        """Delete what waits in a conversation."""
        await self._table.delete_all(_keys(await self._table.query(_some(user, _STEPS, conversation_id))))

    async def delete_all(self, user: str) -> int:
        """Delete all that waits for the user."""
        keys = _keys(await self._table.query(_some(user, _STEPS)))
        await self._table.delete_all(keys)
        return len(keys)


class DynamoJournal:
    """What tools changed, in the cloud."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def note(self, action: Action) -> None:
        """Keep an action; the table lets go of it later."""
        await self._table.put(
            {
                **_entry(action.user, action.id)._asdict(),
                "id": action.id,
                "conversation_id": action.conversation_id,
                "can_be_undone": action.can_be_undone,
                "document": action_document(action),
                "expires_at": int((action.at + JOURNAL_KEPT_FOR).timestamp()),
            }
        )

    async def get(self, user: str, action_id: str) -> Action:
        """Return an action of the user's."""
        item = await self._table.get(_entry(user, action_id))
        if item is None:
            raise NotFound
        return _action(item)

    async def page(self, user: str, *, cursor: str | None = None, limit: int = 50) -> Page[Action]:
        """List the user's actions, newest first: their ids grow with time."""
        top = f"{_ENTRIES}{position_of(cursor).id if cursor else _LAST}"
        values = {":bottom": _ENTRIES, ":top": top}
        # The row of the cursor itself is the first found.
        query = Query(pk=f"USER#{user}", condition=_BETWEEN, values=values, newest_first=True, most=limit + 2)
        below = [item for item in await self._table.query(query) if item["sk"] < top]
        shown = tuple(_action(item) for item in below[:limit])
        more = Position(sortable(shown[-1].at), shown[-1].id).as_cursor() if len(below) > limit else None
        return Page(shown, more)

    async def since(self, user: str, conversation_id: str, at: datetime) -> list[Action]:
        """Return what was changed in a conversation since a time, newest first."""
        bottom = str(ULID.from_datetime(at)).lower()[:_TIME_DIGITS]
        items = await self._table.query(
            Query(
                pk=f"USER#{user}",
                condition=_BETWEEN,
                values={":bottom": f"{_ENTRIES}{bottom}", ":top": f"{_ENTRIES}{_LAST}", ":of": conversation_id},
                keep="#conversation_id = :of",
            )
        )
        found = (action for item in items if (action := _action(item)).at >= at)
        return sorted(found, key=lambda action: (action.at, action.id), reverse=True)

    async def claim_undo(self, user: str, action_id: str, at: datetime) -> Action:
        """Mark an action as taken back, for one caller alone."""
        action = await self.get(user, action_id)
        try:
            await self._table.change(
                _entry(user, action_id),
                "SET #undone_at = :at",
                "#can_be_undone = :yes AND attribute_not_exists(#undone_at)",
                {":at": sortable(at), ":yes": True},
            )
        except ConditionFailed as error:
            raise NotUndoable from error
        return replace(action, undone_at=at)

    async def release_undo(self, user: str, action_id: str) -> None:
        """Mark it as it was before."""
        item = await self._table.get(_entry(user, action_id))
        if item is not None:
            await self._table.put({name: value for name, value in item.items() if name != "undone_at"})

    async def forget(self, user: str, conversation_id: str) -> None:
        """Delete what was changed in a conversation."""
        await self._table.delete_all(_keys(await self._table.query(_some(user, _ENTRIES, conversation_id))))

    async def delete_all(self, user: str) -> int:
        """Delete all actions of the user."""
        keys = _keys(await self._table.query(_some(user, _ENTRIES)))
        await self._table.delete_all(keys)
        return len(keys)


def _step(user: str, confirmation_id: str) -> Key:
    return Key(f"USER#{user}", f"{_STEPS}{confirmation_id}")


def _entry(user: str, action_id: str) -> Key:
    return Key(f"USER#{user}", f"{_ENTRIES}{action_id}")


def _some(user: str, prefix: str, conversation_id: str | None = None) -> Query:
    values = {":prefix": prefix} | ({":of": conversation_id} if conversation_id else {})
    keep = "#conversation_id = :of" if conversation_id else ""
    return Query(pk=f"USER#{user}", condition="begins_with(#sk, :prefix)", values=values, keep=keep, newest_first=True)


def _keys(items: list[Item]) -> list[Key]:
    return [Key(item["pk"], item["sk"]) for item in items]


def _action(item: Item) -> Action:
    return action_of(item["document"], item.get("undone_at"))
