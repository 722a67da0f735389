"""Failed executions in DynamoDB, which are few and found in one place."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.aws.step_functions import StateMachine, execution_name
from tertulia.adapters.cursors import sortable
from tertulia.adapters.documents import from_document, to_document
from tertulia.ports import Clock
from tertulia.ports.follow_up import FailedFollowUp
from tertulia.ports.workflows import FailedExecution

_PARTITION = "FAILED_EXECUTIONS"
_KEPT = timedelta(days=90)


class DynamoFailedExecutions:
    """The turns and recordings whose last execution failed; one that is tried again is no longer listed."""

    def __init__(self, table: DynamoTable, machines: Mapping[str, StateMachine], clock: Clock) -> None:
        self._table = table
        self._machines = machines
        self._clock = clock

    async def record(self, failure: FailedExecution) -> None:
        """Note a failure; the same execution told twice is one failure."""
        key, now = _key(failure.subject), self._clock.now()
        before = await self._table.get(key)
        if before and before["execution"] == failure.execution:
            return
        await self._table.put(
            {
                **key._asdict(),
                "listed": f"F#{sortable(now)}#{failure.subject}",
                "subject": failure.subject,
                "workflow": failure.workflow,
                "execution": failure.execution,
                "first_execution": before["first_execution"] if before else failure.execution,
                "failures": before["failures"] + 1 if before else 1,
                "state": to_document(failure.state),
                "error": failure.error,
                "failed_at": sortable(now),
                "expires_at": int((now + _KEPT).timestamp()),
            }
        )

    async def failed(self, limit: int = 100) -> list[FailedFollowUp]:
        """Return the failures, the latest first."""
        items = await self._table.query(
            Query(
                pk=_PARTITION,
                condition="begins_with(#listed, :failed)",
                values={":failed": "F#"},
                listing=True,
                newest_first=True,
                most=limit,
            )
        )
        return [_failure(item) for item in items]

    async def retry(self, turn_id: str) -> bool:
        """Start an execution again from the state it had; False when there is no failure of this turn or recording."""
        item = await self._table.get(_key(turn_id))
        if item is None or "listed" not in item:
            return False
        state = from_document(item["state"])
        if "quiet_seconds" in state:
            # Whoever asked for it has waited long enough.
            state["quiet_seconds"] = 0
        # A name of its own for each failure: asked twice, it is started once.
        name = execution_name(item["first_execution"], "retry", str(item["failures"]))
        await self._machines[item["workflow"]].start(name, state)
        await self._take_off_the_list(item)
        return True

    async def _take_off_the_list(self, item: Item) -> None:
        values = {":execution": item["execution"]}
        try:
            await self._table.change(Key(item["pk"], item["sk"]), "REMOVE #listed", "#execution = :execution", values)
        except ConditionFailed:
            # It has failed again already.
            return


def _key(subject: str) -> Key:
    return Key(_PARTITION, f"OF#{subject}")


def _failure(item: Item) -> FailedFollowUp:
    state = from_document(item["state"])
    return FailedFollowUp(
        user=state["user"],
        conversation_id=state.get("conversation_id", ""),
        turn_id=item["subject"],
        step=item["workflow"],
        error=item["error"],
        failed_at=datetime.fromisoformat(item["failed_at"]),
    )
