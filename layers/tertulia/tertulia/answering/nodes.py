"""The nodes of the flow: each does one step and tells reply events as it goes."""

import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace

from tertulia.answering.claims import claims_too_much
from tertulia.answering.draft import EarlyAnswer
from tertulia.answering.parts import AnswerParts, Run, State, Writer
from tertulia.answering.prompting import PromptInputs, prompt_messages
from tertulia.answering.taint import Taint, taint_of
from tertulia.answering.telling import Tell
from tertulia.answering.tool_runner import Round
from tertulia.domain.errors import ProviderFailed
from tertulia.domain.markup import MarkupFilter
from tertulia.domain.memories import Memory
from tertulia.domain.phrases import phrase
from tertulia.domain.prompts import ChatMessage, ModelEvent, Prompt, QueuedBehind, TextDelta, TokensUsed, ToolCall
from tertulia.domain.replies import (
    ConfirmationAsked,
    Degraded,
    Measured,
    MemoriesUsed,
    ModelUsed,
    RouteChosen,
    Token,
    ToolReturned,
    Waiting,
)
from tertulia.domain.surfaces import Route
from tertulia.domain.turns import Turn
from tertulia.ports import Question

SECONDS_FOR_LAST_WORDS = 15.0
"""What the agent leaves of its turn for an answer from what was gathered."""


async def recall(run: Run) -> State:
    """Look for memories that fit, within the deadline."""
    started = time.monotonic()
    recalled = await run.parts.recall(run.question)
    run.tell(Measured(stage="recall", ms=_since(started)))
    if recalled.missing:
        run.tell(Degraded(what=recalled.missing))
    await run.early.knows_memories(recalled.memories)
    return State(memories=recalled.memories)


async def route(run: Run) -> State:
    """Choose the route and say so."""
    started = time.monotonic()
    question = run.question
    chosen, reason = await run.parts.router.choose(question.text, question.language, question.request.surface)
    run.tell(Measured(stage="route", ms=_since(started)))
    run.tell(
        RouteChosen(
            route=chosen, reason=reason, turn_id=question.request.turn_id, conversation_id=question.conversation.id
        )
    )
    if chosen is not Route.SIMPLE:
        await run.early.give_up()
    return State(route=chosen)


async def history(run: Run) -> State:
    """Load the last turns and, where that costs nothing, begin the simple answer."""
    surface = run.question.request.surface
    turns = tuple(await run.parts.conversations.recent(run.question.conversation, surface.history_messages // 2))
    await run.early.knows_history(turns)
    return State(history=turns)


def ready(run: Run, first: Iterable[State]) -> State:
    """Put together what the first steps found, and say which memories enter the prompt."""
    state = State(calls=(), steps=(), rounds=0, is_asking=False)
    for found in first:
        state |= found
    if memories := state["memories"]:
        run.tell(MemoriesUsed(ids=tuple(memory.id for memory in memories)))
    attachments = run.question.request.attachments
    state["taint"] = taint_of(run.toolbox, state["history"], state["memories"], attachments)
    return state


async def in_words(state: State, run: Run) -> None:
    """Answer in words alone, by the prompt of the route."""
    writer = run.parts.chat
    stream = run.early.taken() or writer.model.stream(_prompt(run, state, writer))
    written = await _write(stream, run.tell, state["route"].value, writer)
    if not written.text.strip():
        raise ProviderFailed
    _keep_honest(written.text, run, state)


async def agent(state: State, run: Run) -> State:
    """Answer, or ask for tools; the last call gets none and answers from what was gathered."""
    writer = run.parts.agent
    left = run.ends_at - time.monotonic()
    is_last = state["rounds"] + 1 >= run.question.request.surface.model_calls or left < SECONDS_FOR_LAST_WORDS
    stream = writer.model.stream(_prompt(run, state, writer), () if is_last else run.toolbox.specs)
    written = await _write(stream, run.tell, Route.CONTEXT.value, writer)
    calls = () if is_last else _told_apart(written.calls, state)
    if not calls and not written.text.strip():
        if not state["steps"]:
            raise ProviderFailed
        run.tell(Token(text=phrase("limit", run.question.language)))
        run.tell(Degraded(what="limit"))
    if not calls:
        _keep_honest(written.text, run, state)
    asked = ChatMessage(role="assistant", parts=(written.text,), tool_calls=calls)
    steps = (*state["steps"], asked) if calls else state["steps"]
    return State(calls=calls, steps=steps, rounds=state["rounds"] + 1)


async def tools(state: State, run: Run) -> State:
    """Run the tools asked for, each with its result, failures included; what needs a yes ends the turn with a question."""
    results: list[ChatMessage] = []
    taint, is_asking = state["taint"], False
    left = max(run.ends_at - time.monotonic() - SECONDS_FOR_LAST_WORDS, 1)
    asked = Round(calls=state["calls"], question=run.question, toolbox=run.toolbox, taint=taint, seconds=left)
    async with aclosing(run.parts.tools.run(asked)) as events:
        async for event in events:
            run.note(event)
            if isinstance(event, ToolReturned):
                results.append(ChatMessage(role="tool", parts=(event.result,), tool_call_id=event.call_id))
                taint = Taint.NOW if run.toolbox.taints(event.tool) else taint
            if isinstance(event, ConfirmationAsked):
                run.tell(Token(text=event.question))
                is_asking = True
    return State(calls=(), steps=(*state["steps"], *results), taint=taint, is_asking=is_asking)


def new_run(parts: AnswerParts, question: Question, tell: Tell) -> Run:
    """Begin an answer: its simple form at once where another call costs the model nothing."""

    def write(turns: tuple[Turn, ...], memories: tuple[Memory, ...]) -> AsyncGenerator[ModelEvent]:
        state = State(route=Route.SIMPLE, history=turns, memories=memories)
        return parts.chat.model.stream(_prompt(run, state, parts.chat))

    is_wanted = question.request.surface.always is None and parts.chat.model.runs_side_by_side
    early = EarlyAnswer(write, is_wanted=is_wanted)
    ends_at = time.monotonic() + parts.turn_seconds
    run = Run(parts=parts, question=question, tell=tell, early=early, ends_at=ends_at)
    return run


def _told_apart(calls: tuple[ToolCall, ...], state: State) -> tuple[ToolCall, ...]:
    """Give calls ids of their own: some models number them anew in each round, or not at all."""
    used = {call.id for step in state["steps"] for call in step.tool_calls}
    apart: list[ToolCall] = []
    for place, call in enumerate(calls):
        new = f"call_{state['rounds']}_{place}"
        apart.append(call if call.id and call.id not in used else replace(call, id=new))
        used.add(apart[-1].id)
    return tuple(apart)


def _keep_honest(text: str, run: Run, state: State) -> None:
    """Correct an answer that claims what no tool has done."""
    if claims_too_much(text, run.done, state["history"], run.toolbox):
        run.tell(Token(text=f" {phrase('claim_corrected', run.question.language)}"))
        run.tell(Degraded(what="claim"))


def _prompt(run: Run, state: State, writer: Writer) -> Prompt:
    inputs = PromptInputs(
        question=run.question,
        route=state["route"],
        history=state["history"],
        memories=state.get("memories", ()),
        tools=run.toolbox.specs if state["route"] is Route.CONTEXT else (),
    )
    return writer.prompt((*prompt_messages(inputs), *state.get("steps", ())))


@dataclass(frozen=True)
class _Written:
    text: str
    calls: tuple[ToolCall, ...]


async def _write(stream: AsyncGenerator[ModelEvent], tell: Tell, job: str, writer: Writer) -> _Written:
    """Tell the answer token by token, free of reasoning markup, and gather the tools asked for."""
    started, markup = time.monotonic(), MarkupFilter()
    pieces: list[str] = []
    calls: list[ToolCall] = []

    def say(text: str) -> None:
        if text:
            pieces.append(text)
            tell(Token(text=text))

    used = TokensUsed(tokens_in=0, tokens_out=0)
    async with aclosing(stream) as events:
        async for event in events:
            match event:
                case TextDelta(text=text):
                    say(markup.feed(text))
                case ToolCall():
                    calls.append(event)
                case QueuedBehind(ahead=ahead):
                    tell(Waiting(ahead=ahead))
                case TokensUsed():
                    used = event
    say(markup.finish())
    _tell_use(used, tell, job, writer)
    tell(Measured(stage="model", ms=_since(started)))
    return _Written("".join(pieces), tuple(calls))


def _tell_use(used: TokensUsed, tell: Tell, job: str, writer: Writer) -> None:
    model = used.model or writer.model.name
    if model != writer.model.name:
        tell(Degraded(what="fallback"))
    tell(ModelUsed(job=job, model=model, tokens_in=used.tokens_in, tokens_out=used.tokens_out))


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
