"""Functions of the workflows in one execution environment, over moto, with a scripted model."""

import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any, cast

from tertulia.assistant import Assistant
from tertulia.domain.turns import Conversation, Turn
from tests.functions.conftest import Context
from tests.workflow.listening_model import Listener
from tests.workflow.machine import Event, Machine

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

FUNCTIONS = Path(__file__).parents[2] / "functions"


@dataclass
class Functions:
    """The handlers of `functions/`, one call at a time, as an execution environment works."""

    process: Executor
    calls: list[tuple[str, Event]] = field(default_factory=list)
    gates: dict[str, threading.Event] = field(default_factory=dict)
    """Functions that are not begun before their gate is open."""

    def __call__(self, function: str, event: Event) -> Any:
        """Run a function."""
        if function in self.gates:
            assert self.gates[function].wait(20), f"nobody opened the gate of {function}"
        self.calls.append((function, event))
        handler = run_path(str(FUNCTIONS / function / "handler.py"))["handler"]
        return self.process.submit(handler, event, cast("LambdaContext", Context())).result()

    def called(self, function: str) -> int:
        """Count the calls of a function."""
        return sum(name == function for name, _ in self.calls)


@dataclass(frozen=True)
class Cloud:
    """A deployment: where turns are stored and handed over, and what runs afterwards."""

    assistant: Assistant
    machine: Machine
    """What follows a turn."""
    recordings: Machine
    functions: Functions
    listener: Listener

    async def talk(self, user: str, turns: Sequence[Turn]) -> Conversation:
        """Hold a conversation whose turns are handed over one after the other."""
        conversation = await self.assistant.conversations.open(user, None)
        for turn in turns:
            await self.turn(conversation, turn)
        return conversation

    async def turn(self, conversation: Conversation, turn: Turn) -> None:
        """Store a turn and hand it over."""
        await self.assistant.conversations.append(conversation, turn)
        await self.assistant.follow_up.start(conversation, turn)

    def failure(self, execution: str, machine: Machine | None = None) -> Event:
        """Return the event by which the rule on failed executions tells of one."""
        found = (machine or self.machine).ended(execution)
        return {
            "source": "aws.states",
            "detail-type": "Step Functions Execution Status Change",
            "detail": {
                "executionArn": found["executionArn"],
                "stateMachineArn": found["stateMachineArn"],
                "name": found["name"],
                "status": found["status"],
                "input": found["input"],
                "inputDetails": {"included": True},
                "output": None,
                "error": found.get("error"),
                "cause": found.get("cause"),
            },
        }
