"""Runs the tools a model asked for: what only looks side by side, what changes something alone and in order.

No failure ends the turn, and nothing is changed that the user must agree to first.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tertulia.answering.acting import Acting, Deed
from tertulia.answering.taint import Taint, is_steered
from tertulia.answering.toolbox import Toolbox, Toolboxes
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.prompts import Json, ToolCall, ToolResult
from tertulia.domain.replies import AnswerEvent, ConfirmationAsked, Measured, ToolCalled, ToolReturned, returned
from tertulia.ports import Question, ToolContext

MOST_CALLS_AT_ONCE = 8
TOO_MANY = f"Not run: at most {MOST_CALLS_AT_ONCE} calls at once. Ask again for what is still needed."


@dataclass(frozen=True, kw_only=True)
class Round:
    """The calls that a model made at once, and what was before it."""

    calls: Sequence[ToolCall]
    question: Question
    toolbox: Toolbox
    taint: Taint = Taint.CLEAN
    seconds: float | None = None
    """What is left of the turn."""


@dataclass(frozen=True)
class _Step:
    call: ToolCall
    deed: Deed | None = None
    refusal: str = ""

    @property
    def is_change(self) -> bool:
        return self.deed is not None and self.deed.effect.is_change


@dataclass(frozen=True)
class ToolRunner:
    """The agent's hands."""

    boxes: Toolboxes
    acting: Acting

    async def run(self, asked: Round) -> AsyncGenerator[AnswerEvent]:
        """Yield that each tool is called and what each returned, in order; last, what the user must say yes to."""
        started = time.monotonic()
        steps = [_step(call, place, asked.toolbox) for place, call in enumerate(asked.calls)]
        waiting = [step for step in steps if step.deed and _needs_a_yes(step.deed, asked)]
        for group in _groups(step for step in steps if step not in waiting):
            async for event in self._together(group, asked):
                yield event
        yield Measured(stage="tools", ms=_since(started))
        # One question at a time: a yes to two of them would be unclear.
        for step in waiting[:1]:
            assert step.deed is not None  # noqa: S101  # only steps with a deed wait
            yield asked_event(await self.acting.ask(step.deed, context_of(asked.question)))

    async def _together(self, steps: Sequence[_Step], asked: Round) -> AsyncGenerator[AnswerEvent]:
        for step in steps:
            yield ToolCalled(
                tool=step.call.name, arguments=step.deed.arguments if step.deed else {}, call_id=step.call.id
            )
        running = [asyncio.create_task(self._one(step, asked)) for step in steps]
        try:
            for task in running:
                yield await task
        finally:
            for task in running:
                task.cancel()

    async def _one(self, step: _Step, asked: Round) -> ToolReturned:
        started = time.monotonic()
        result = (
            await self.acting(step.deed, context_of(asked.question), asked.seconds)
            if step.deed
            else ToolResult(text=step.refusal, ok=False)
        )
        return returned(step.call.id, step.call.name, result, _since(started))


def asked_event(confirmation: Confirmation) -> ConfirmationAsked:
    """Return a step that waits for a yes as clients are told of it."""
    return ConfirmationAsked(
        confirmation_id=confirmation.id,
        tool=confirmation.tool,
        arguments=confirmation.arguments,
        question=confirmation.question,
        expires_at=confirmation.expires_at,
    )


def context_of(question: Question) -> ToolContext:
    """Return whose turn a tool works for."""
    return ToolContext(
        user=question.request.user,
        conversation_id=question.conversation.id,
        turn_id=question.request.turn_id,
        language=question.language,
        timezone=question.request.timezone or "UTC",
    )


def _step(call: ToolCall, place: int, toolbox: Toolbox) -> _Step:
    tool, arguments = toolbox.find(call.name), _arguments(call)
    if place >= MOST_CALLS_AT_ONCE:
        return _Step(call, refusal=TOO_MANY)
    if tool is None:
        return _Step(call, refusal=f"There is no tool named {call.name}.")
    if arguments is None:
        return _Step(call, refusal="The arguments were not a JSON object. Call the tool again.")
    return _Step(call, Deed(tool, arguments))


def _needs_a_yes(deed: Deed, asked: Round) -> bool:
    effect = deed.effect
    if not deed.tool.is_configured:
        return False
    is_by_others = effect.is_change and is_steered(asked.taint, deed.arguments, asked.question.text)
    return effect.needs_a_yes or is_by_others


def _groups(steps: Iterable[_Step]) -> Iterable[list[_Step]]:
    for is_change, group in groupby(steps, key=lambda step: step.is_change):
        if is_change:
            yield from ([step] for step in group)
        else:
            yield list(group)


def _arguments(call: ToolCall) -> Mapping[str, Json] | None:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return {} if arguments is None else arguments if isinstance(arguments, dict) else None


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
