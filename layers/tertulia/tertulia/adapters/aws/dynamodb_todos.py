"""To-dos in DynamoDB."""

import secrets

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.domain.errors import NotFound
from tertulia.domain.todos import DELETED_KEPT, Todo
from tertulia.ports import Clock

_IS_LISTED = "attribute_exists(#pk) AND attribute_not_exists(#deleted_at)"


class DynamoTodos:
    """The to-dos of users, in the cloud."""

    name = "Tertulia"

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def add(self, user: str, title: str, note: str = "") -> Todo:
        """Keep a new to-do."""
        todo = Todo(id=secrets.token_hex(6), title=title, note=note)
        item = {
            **_key(user, todo.id)._asdict(),
            "id": todo.id,
            "title": title,
            "note": note,
            "is_done": False,
            "created_at": sortable(self._clock.now()),
        }
        await self._table.put(item)
        return todo

    async def list(self, user: str, *, with_done: bool = False) -> list[Todo]:
        """Return the to-dos, the open ones alone unless told otherwise, oldest first."""
        listed = [item for item in await self._table.query(_all_of(user)) if "deleted_at" not in item]
        listed.sort(key=lambda item: (item["created_at"], item["id"]))
        return [_todo(item) for item in listed if with_done or not item["is_done"]]

    async def complete(self, user: str, todo_id: str, *, done: bool = True, state: str = "") -> None:  # noqa: ARG002
        """Mark a to-do as done, or as open again."""
        await self._change(_key(user, todo_id), "SET #is_done = :done", _IS_LISTED, {":done": done})

    async def delete(self, user: str, todo_id: str) -> None:
        """Take a to-do off the list; a day later the table drops it."""
        now = self._clock.now()
        times = {":now": sortable(now), ":expires": int((now + DELETED_KEPT).timestamp())}
        change = "SET #deleted_at = :now, #expires_at = :expires"
        await self._change(_key(user, todo_id), change, _IS_LISTED, times)

    async def restore(self, user: str, todo_id: str) -> Todo:
        """Bring a deleted to-do back."""
        since = {":since": sortable(self._clock.now() - DELETED_KEPT)}
        await self._change(_key(user, todo_id), "REMOVE #deleted_at, #expires_at", "#deleted_at > :since", since)
        item = await self._table.get(_key(user, todo_id))
        if item is None:
            raise NotFound
        return _todo(item)

    async def delete_all(self, user: str) -> int:
        """Erase every to-do of the user."""
        keys = [Key(item["pk"], item["sk"]) for item in await self._table.query(_all_of(user))]
        await self._table.delete_all(keys)
        return len(keys)

    async def _change(self, key: Key, change: str, condition: str, values: Item) -> None:
        try:
            await self._table.change(key, change, condition, values)
        except ConditionFailed as error:
            raise NotFound from error


def _all_of(user: str) -> Query:
    return Query(pk=f"USER#{user}", condition="begins_with(#sk, :todos)", values={":todos": "TO_DO#"})


def _key(user: str, todo_id: str) -> Key:
    return Key(f"USER#{user}", f"TO_DO#{todo_id}")


def _todo(item: Item) -> Todo:
    return Todo(id=item["id"], title=item["title"], note=item["note"], is_done=item["is_done"])
