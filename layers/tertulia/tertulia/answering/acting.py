"""Acting for a user: a call runs within its time and is written down, or is asked about first."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ulid import ULID

from tertulia.domain.actions import Action
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.effects import Effect
from tertulia.domain.errors import TertuliaError
from tertulia.domain.phrases import phrase
from tertulia.domain.prompts import Json, ToolResult
from tertulia.ports import Clock, Tool, ToolContext
from tertulia.ports.safety import AsksInItsWords, ConfirmationStore, Journal, TellsItsEffect

MOST_RESULT_CHARACTERS = 10_000
CUT_MARK = "\n[… cut here]"
MOST_SHOWN_CHARACTERS = 300

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Deed:
    """A call of a tool with arguments that could be read."""

    tool: Tool
    arguments: Mapping[str, Json]
    is_direct: bool = False
    """Whether people see the result, with no model between: our failures are raised then, others stay in the log."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.spec.name

    @property
    def effect(self) -> Effect:
        """How far this call reaches."""
        if isinstance(self.tool, TellsItsEffect):
            return self.tool.effect_of(self.arguments)
        return self.tool.spec.effect


@dataclass(frozen=True, kw_only=True)
class Acting:
    """Runs tools, and keeps what they changed and what waits for a yes."""

    journal: Journal
    confirmations: ConfirmationStore
    clock: Clock
    seconds: float = 30.0

    async def __call__(self, deed: Deed, context: ToolContext, seconds: float | None = None) -> ToolResult:
        """Run a tool; a change is finished and written down even when nobody waits for it any more."""
        limit = min(deed.tool.spec.seconds or self.seconds, seconds or self.seconds)
        if not deed.tool.is_configured:
            return ToolResult(text=phrase("tool_unconfigured", context.language, tool=deed.name), ok=False)
        if not deed.effect.is_change:
            return await self._result(deed, context, limit)
        return await asyncio.shield(asyncio.create_task(self._changed(deed, context, limit)))

    async def unwritten(self, deed: Deed, context: ToolContext) -> ToolResult:
        """Run a tool to its end without writing it down."""
        return await asyncio.shield(
            asyncio.create_task(self._result(deed, context, deed.tool.spec.seconds or self.seconds))
        )

    async def ask(self, deed: Deed, context: ToolContext) -> Confirmation:
        """Keep a call until its user says yes."""
        now = self.clock.now()
        confirmation = Confirmation(
            id=str(ULID.from_datetime(now)).lower(),
            user=context.user,
            tool=deed.name,
            arguments=dict(deed.arguments),
            question=_question(deed, context.language),
            language=context.language,
            asked_at=now,
            conversation_id=context.conversation_id,
            turn_id=context.turn_id,
            timezone=context.timezone,
        )
        await self.confirmations.ask(confirmation)
        return confirmation

    async def _changed(self, deed: Deed, context: ToolContext, seconds: float) -> ToolResult:
        result = await self._result(deed, context, seconds)
        if result.ok:
            now = self.clock.now()
            action = Action(
                id=str(ULID.from_datetime(now)).lower(),
                user=context.user,
                tool=deed.name,
                arguments=dict(deed.arguments),
                summary=result.summary or result.text[:200],
                at=now,
                conversation_id=context.conversation_id,
                turn_id=context.turn_id,
                undo=result.undo,
            )
            try:
                await self.journal.note(action)
            except TertuliaError as error:
                logger.error("a change by %s could not be written down: %s", deed.name, error.code)
        return result

    async def _result(self, deed: Deed, context: ToolContext, seconds: float) -> ToolResult:
        try:
            async with asyncio.timeout(seconds):
                result = await deed.tool(deed.arguments, context)
        except TimeoutError:
            unsure = " It may have been done or not: say so." if deed.effect.is_change else ""
            return ToolResult(text=f"{deed.name} gave no answer within {seconds:g} seconds.{unsure}", ok=False)
        except Exception as error:
            # An edge: whatever a tool raises goes to the model as words, so that it can ask or do without.
            if deed.is_direct and isinstance(error, TertuliaError):
                raise
            logger.warning("the tool %s failed", deed.name, exc_info=error)
            told = f"{deed.name} failed: {str(error)[:200]}"
            text = phrase("tool_failed", context.language, tool=deed.name) if deed.is_direct else told
            return ToolResult(text=text, ok=False, summary=f"{deed.name} failed")
        if len(result.text) > MOST_RESULT_CHARACTERS:
            return replace(result, text=result.text[:MOST_RESULT_CHARACTERS] + CUT_MARK)
        return result


def _question(deed: Deed, language: str) -> str:
    asked = deed.tool.question(deed.arguments, language) if isinstance(deed.tool, AsksInItsWords) else ""
    if not asked:
        shown = "; ".join(f"{name}: {_shown(value)}" for name, value in deed.arguments.items())
        shown = shown if len(shown) <= MOST_SHOWN_CHARACTERS else shown[:MOST_SHOWN_CHARACTERS] + "…"
        tool = deed.name.replace("_", " ").replace("-", " ")
        asked = phrase("confirm_with" if shown else "confirm", language, tool=tool, arguments=shown)
    return f"{asked} {phrase('confirm_how', language)}"


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())
