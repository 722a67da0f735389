"""Reminders in DynamoDB."""

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.adapters.reminder_documents import reminder_document, reminder_of
from tertulia.domain.errors import Conflict, NotFound
from tertulia.domain.reminders import KEPT, Reminder
from tertulia.ports import Clock

_OPEN = "REMINDER#"
_TOLD_NEXT = "REMINDER#0#"
"""Listed before the others, so that a turn reads no more than these."""
_ANY = "REMINDER#"


class DynamoReminders:
    """The reminders of users, in the cloud."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def add(self, reminder: Reminder) -> None:
        """Keep a new reminder."""
        await self._table.put(self._item(reminder), "attribute_not_exists(#pk)")

    async def get(self, user: str, reminder_id: str) -> Reminder:
        """Return a reminder of the user's, or raise NotFound."""
        item = await self._table.get(_key(user, reminder_id))
        if item is None:
            raise NotFound
        return reminder_of(item["document"])

    async def save(self, reminder: Reminder) -> None:
        """Keep a changed reminder, unless another change was faster."""
        try:
            await self._table.put(self._item(reminder), "#revision = :before", {":before": reminder.revision - 1})
        except ConditionFailed as error:
            await self.get(reminder.user, reminder.id)
            raise Conflict from error

    async def open(self, user: str) -> list[Reminder]:
        """Return the reminders that ring or will."""
        return await self._listed(user, _OPEN)

    async def to_be_told(self, user: str) -> list[Reminder]:
        """Return the reminders that the user's next turn begins with, oldest first."""
        return await self._listed(user, _TOLD_NEXT)

    async def delete_all(self, user: str) -> int:
        """Erase every reminder of the user."""
        every = Query(pk=f"USER#{user}", condition="begins_with(#sk, :any)", values={":any": _ANY})
        keys = [Key(item["pk"], item["sk"]) for item in await self._table.query(every)]
        await self._table.delete_all(keys)
        return len(keys)

    async def _listed(self, user: str, beginning: str) -> list[Reminder]:
        listed = Query(
            pk=f"USER#{user}", condition="begins_with(#listed, :it)", values={":it": beginning}, listing=True
        )
        return [reminder_of(item["document"]) for item in await self._table.query(listed)]

    def _item(self, reminder: Reminder) -> Item:
        over = None if reminder.is_open else int((self._clock.now() + KEPT).timestamp())
        return {
            **_key(reminder.user, reminder.id)._asdict(),
            "revision": reminder.revision,
            "document": reminder_document(reminder),
            "listed": _place(reminder),
            "expires_at": over,
        }


def _place(reminder: Reminder) -> str | None:
    """Return where it is listed: what is to be told first, then by when it rings; what is over is not listed."""
    if reminder.is_to_be_told and reminder.rang_at:
        return f"{_TOLD_NEXT}{sortable(reminder.rang_at)}#{reminder.id}"
    if not reminder.is_open:
        return None
    return f"{_OPEN}1#{sortable(reminder.due_at) if reminder.due_at else '9'}#{reminder.id}"


def _key(user: str, reminder_id: str) -> Key:
    return Key(f"USER#{user}", f"REMINDER#{reminder_id}")
