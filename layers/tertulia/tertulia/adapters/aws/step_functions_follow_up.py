"""What follows by Step Functions: a turn or a recording is handed over when its execution has been started."""

from tertulia.adapters.aws.step_functions import StateMachine, execution_name
from tertulia.domain.errors import TertuliaError
from tertulia.domain.recordings import Recording
from tertulia.domain.turns import Conversation, Turn
from tertulia.ports.workflows import FailedExecution, FailedExecutions


class StepFunctionsFollowUp:
    """Starts one execution for each turn; where that fails, the turn is noted, so that somebody can start it."""

    def __init__(self, machine: StateMachine, failures: FailedExecutions, quiet_seconds: int) -> None:
        self._machine = machine
        self._failures = failures
        self._quiet_seconds = quiet_seconds

    async def start(self, conversation: Conversation, turn: Turn) -> None:
        """Hand the turn over; when this returns, it is followed up whatever happens here. The same turn twice is one."""
        await self._start(execution_name(conversation.id, turn.id), conversation, turn, self._quiet_seconds)

    async def summarize_now(self, conversation: Conversation, turn: Turn) -> None:
        """Follow the newest turn up once more without the wait: what is known already is not learned twice."""
        await self._start(execution_name(conversation.id, f"{turn.id}-now"), conversation, turn, 0)

    async def _start(self, name: str, conversation: Conversation, turn: Turn, quiet_seconds: int) -> None:
        state = {
            "user": conversation.user,
            "conversation_id": conversation.id,
            "turn_id": turn.id,
            "quiet_seconds": quiet_seconds,
        }
        try:
            await self._machine.start(name, state)
        except TertuliaError as error:
            await self._failures.record(
                FailedExecution(workflow="after_turn", execution=name, subject=turn.id, state=state, error=error.code)
            )
            raise


class StepFunctionsRecordings:
    """Starts one execution for each recording, as for turns."""

    def __init__(self, machine: StateMachine, failures: FailedExecutions) -> None:
        self._machine = machine
        self._failures = failures

    async def start(self, recording: Recording) -> None:
        """Hand a stored recording over; the same recording twice is one."""
        name = execution_name(recording.id)
        state = {"user": recording.user, "recording_id": recording.id}
        try:
            await self._machine.start(name, state)
        except TertuliaError as error:
            await self._failures.record(
                FailedExecution(
                    workflow="recording", execution=name, subject=recording.id, state=state, error=error.code
                )
            )
            raise
