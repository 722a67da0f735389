"""What a message settles by itself, before any model is asked: a direct call, a yes or no, a wish to undo."""

from dataclasses import dataclass

from tertulia.answering.acting import Acting, Deed
from tertulia.answering.parts import Run, Settled
from tertulia.answering.tool_runner import asked_event, context_of
from tertulia.answering.undoing import Undoing
from tertulia.domain.confirmations import Confirmation
from tertulia.domain.direct_calls import NotACall, begins_a_call, direct_call_in
from tertulia.domain.errors import NotFound, TertuliaError
from tertulia.domain.phrases import phrase
from tertulia.domain.prompts import ChatMessage, ToolCall, ToolResult
from tertulia.domain.replies import RouteChosen, Token, ToolCalled, returned
from tertulia.domain.surfaces import Route, RouteReason
from tertulia.domain.verdicts import Verdict, asks_to_undo, verdict_of
from tertulia.ports import ConversationStore, Question
from tertulia.ports.safety import ConfirmationStore
from tertulia.wire import arguments_to_json

DIRECT = "direct"
"""The id of a call that its user made."""


@dataclass(frozen=True, kw_only=True)
class Settling:
    """Reads messages by rule."""

    conversations: ConversationStore
    confirmations: ConfirmationStore
    acting: Acting
    undoing: Undoing

    async def __call__(self, run: Run) -> Settled | None:
        """Do what the message asks for by itself; None where a model has to read it."""
        text = run.question.text
        if begins_a_call(text):
            await self._called(run)
            return Settled()
        verdict = verdict_of(text)
        if verdict and (confirmation := await self._waiting(run.question)):
            return await self._decided(run, confirmation, verdict)
        if asks_to_undo(text):
            _choose(run)
            said = await self.undoing.last(context_of(run.question))
            run.tell(Token(text=said))
            return Settled()
        return None

    async def _called(self, run: Run) -> None:
        """Run the tool that the user called; its result is the answer."""
        _choose(run)
        await run.open_toolbox()
        language = run.question.language
        try:
            call = direct_call_in(run.question.text)
            tool = run.toolbox.find(call.name)
            if tool is None:
                return run.tell(Token(text=phrase("direct_unknown", language, tool=call.name)))
            arguments = call.named(tool.spec.parameters)
        except NotACall:
            return run.tell(Token(text=phrase("direct_syntax", language)))
        await self._run(run, Deed(tool, arguments, is_direct=True))
        return None

    async def _run(self, run: Run, deed: Deed) -> None:
        context = context_of(run.question)
        if deed.effect.needs_a_yes and deed.tool.is_configured:
            asked = asked_event(await self.acting.ask(deed, context))
            run.tell(asked)
            return run.tell(Token(text=asked.question))
        run.note(ToolCalled(tool=deed.name, arguments=deed.arguments, call_id=DIRECT))
        try:
            result = await self.acting(deed, context)
        except TertuliaError as error:
            result = ToolResult(text=error.message, ok=False)
        run.note(returned(DIRECT, deed.name, result, 0))
        return run.tell(Token(text=result.text))

    async def _waiting(self, question: Question) -> Confirmation | None:
        """Return what waits for a yes, if it was asked in the very last turn."""
        conversation = question.conversation
        found = await self.confirmations.waiting(conversation.user, conversation.id)
        if found is None:
            return None
        last = await self.conversations.recent(conversation, 1)
        after = last[-1].answer_number if last else -1
        is_last = not last or last[-1].id == found.turn_id or last[-1].answered_at <= found.asked_at
        return found if is_last and not await self.conversations.turns(conversation, after, 1) else None

    async def _decided(self, run: Run, confirmation: Confirmation, verdict: Verdict) -> Settled | None:
        try:
            taken = await self.confirmations.take(confirmation.user, confirmation.id)
        except NotFound:
            return None
        _choose(run)
        if verdict is Verdict.NO:
            run.tell(Token(text=phrase("not_done", run.question.language)))
            return Settled()
        call = ToolCall(id=f"yes_{taken.id}", name=taken.tool, arguments=arguments_to_json(taken.arguments))
        await run.open_toolbox()
        run.note(ToolCalled(tool=call.name, arguments=taken.arguments, call_id=call.id))
        tool = run.toolbox.find(taken.tool)
        result = (
            await self.acting(Deed(tool, taken.arguments), context_of(run.question))
            if tool
            else ToolResult(text=f"There is no tool named {taken.tool} any more.", ok=False)
        )
        run.note(returned(call.id, call.name, result, 0))
        return Settled(
            steps=(
                ChatMessage(role="assistant", tool_calls=(call,)),
                ChatMessage(role="tool", parts=(result.text,), tool_call_id=call.id),
            ),
            tool=taken.tool,
            summary=phrase("done_action", run.question.language, what=result.summary or result.text[:200])
            if result.ok
            else "",
        )


def _choose(run: Run) -> None:
    request = run.question.request
    run.tell(
        RouteChosen(
            route=Route.CONTEXT,
            reason=RouteReason.KEYWORD,
            turn_id=request.turn_id,
            conversation_id=run.question.conversation.id,
        )
    )
