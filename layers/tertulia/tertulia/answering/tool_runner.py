"""Runs the tools a model asked for: side by side, each with its own deadline, no failure ending the turn."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass

from tertulia.domain.prompts import Json, ToolCall, ToolResult, ToolSpec
from tertulia.domain.replies import AnswerEvent, Measured, ToolCalled, ToolReturned, returned
from tertulia.domain.scenarios import allows
from tertulia.ports import Question, Tool, ToolContext

MOST_RESULT_CHARACTERS = 10_000
CUT_MARK = "\n[… cut here]"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ToolRunner:
    """The tools of the agent, by name."""

    tools: Sequence[Tool]
    seconds: float = 30.0

    def offered(self, question: Question) -> tuple[ToolSpec, ...]:
        """Return what the model is told of: the tools that the scenario of the turn allows."""
        return tuple(tool.spec for tool in self.tools if allows(question.request.scenario, tool.spec.name))

    async def run(self, calls: Sequence[ToolCall], question: Question) -> AsyncGenerator[AnswerEvent]:
        """Yield that each tool is called, then what each returned, in the order of the calls."""
        started = time.monotonic()
        parsed = [(call, _arguments(call)) for call in calls]
        for call, arguments in parsed:
            yield ToolCalled(tool=call.name, arguments=arguments or {}, call_id=call.id)
        running = [asyncio.create_task(self._one(call, arguments, question)) for call, arguments in parsed]
        try:
            for task in running:
                yield await task
        finally:
            for task in running:
                task.cancel()
        yield Measured(stage="tools", ms=round((time.monotonic() - started) * 1000))

    async def _one(self, call: ToolCall, arguments: Mapping[str, Json] | None, question: Question) -> ToolReturned:
        started = time.monotonic()
        result = await self._result(call, arguments, question)
        if len(result.text) > MOST_RESULT_CHARACTERS:
            result = ToolResult(
                text=result.text[:MOST_RESULT_CHARACTERS] + CUT_MARK, ok=result.ok, summary=result.summary
            )
        return returned(call.id, call.name, result, round((time.monotonic() - started) * 1000))

    async def _result(self, call: ToolCall, arguments: Mapping[str, Json] | None, question: Question) -> ToolResult:
        tool = next((tool for tool in self.tools if tool.spec.name == call.name), None)
        if tool is None or not allows(question.request.scenario, call.name):
            return ToolResult(text=f"There is no tool named {call.name}.", ok=False)
        if arguments is None:
            return ToolResult(text="The arguments were not a JSON object. Call the tool again.", ok=False)
        context = ToolContext(
            user=question.request.user,
            conversation_id=question.conversation.id,
            turn_id=question.request.turn_id,
            language=question.language,
            timezone=question.request.timezone or "UTC",
        )
        try:
            async with asyncio.timeout(self.seconds):
                return await tool(arguments, context)
        except TimeoutError:
            return ToolResult(text=f"{call.name} gave no answer within {self.seconds:g} seconds.", ok=False)
        except Exception as error:
            # An edge: whatever a tool raises goes to the model as words, so that it can ask or do without.
            logger.warning("the tool %s failed", call.name, exc_info=error)
            return ToolResult(text=f"{call.name} failed: {str(error)[:200]}", ok=False, summary=f"{call.name} failed")


def _arguments(call: ToolCall) -> Mapping[str, Json] | None:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    return {} if arguments is None else arguments if isinstance(arguments, dict) else None
