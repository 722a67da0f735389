"""Takes back what tools changed: one action, or what the last turn of a conversation did."""

from dataclasses import dataclass

from tertulia.answering.acting import Acting, Deed
from tertulia.answering.toolbox import Toolboxes
from tertulia.domain.actions import UNDONE_BY_WORDS_FOR, Action, NotUndoable
from tertulia.domain.errors import TertuliaError
from tertulia.domain.phrases import phrase
from tertulia.domain.prompts import ToolResult
from tertulia.ports import Clock, ToolContext
from tertulia.ports.safety import Journal


@dataclass(frozen=True, kw_only=True)
class Undone:
    """What became of an action."""

    action: Action
    result: ToolResult


@dataclass(frozen=True, kw_only=True)
class Undoing:
    """The way back."""

    journal: Journal
    acting: Acting
    boxes: Toolboxes
    clock: Clock

    async def __call__(self, action_id: str, context: ToolContext) -> Undone:
        """Take one action back; raises NotFound, or NotUndoable. The user's own word for it is their yes."""
        box = await self.boxes.of(context.user)
        action = await self.journal.get(context.user, action_id)
        tool = box.find(action.undo.tool) if action.undo else None
        if action.undo is None or tool is None:
            raise NotUndoable
        action = await self.journal.claim_undo(context.user, action_id, self.clock.now())
        # Nothing is written down again: the journal already says that this was taken back.
        deed = Deed(tool, action.undo.arguments if action.undo else {}, is_direct=True)
        try:
            result = await self.acting.unwritten(deed, context)
        except TertuliaError as error:
            result = ToolResult(text=error.message, ok=False)
        if not result.ok:
            await self.journal.release_undo(context.user, action_id)
        return Undone(action=action, result=result)

    async def last(self, context: ToolContext) -> str:
        """Take back what the last turn that changed something did, the last change first; return what to say."""
        since = self.clock.now() - UNDONE_BY_WORDS_FOR
        actions = await self.journal.since(context.user, context.conversation_id or "", since)
        open_ones = [action for action in actions if action.undone_at is None]
        if not open_ones:
            return phrase("undo_nothing", context.language)
        said = [await self._told(action, context) for action in open_ones if action.turn_id == open_ones[0].turn_id]
        return "\n".join(said)

    async def _told(self, action: Action, context: ToolContext) -> str:
        what = action.summary or action.tool
        try:
            undone = await self(action.id, context)
        except NotUndoable:
            return phrase("undo_impossible", context.language, what=what)
        return phrase("undone" if undone.result.ok else "undo_failed", context.language, what=what)
