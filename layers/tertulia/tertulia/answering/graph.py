"""The flow of an answer, whole: this file is the one description of it.

               ┌─> (a direct call, a no, an undo) ──────> end
    settle ────┼─> (a yes: its tool has run) ─┐
               │                              ├─> agent <─> tools ─> end
               │   recall ─┐                  │       (a tool that needs a yes: its question) ─> end
               └─> route ──┼─> ready ─ (route)┼─> simple ──────────> end
                   history ┘                  └─> persona ─────────> end

What a message settles by itself is done by rule before any model is asked (`settling.py`).

Every route but the agent's is answered in words alone, by the node and the prompt of its name. The agent's loop is a
graph of LangGraph, loaded when a turn first takes that route: importing it takes as long as all else that a Lambda
needs to begin, and most turns do without it.

Recall, routing and history run side by side. Where the model runs calls side by side too, `history` begins the simple
answer as soon as it has the last turns, and `recall` begins it anew when it finds memories: the answer is taken when
the route turns out to be simple, and thrown away otherwise.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tertulia.answering import nodes
from tertulia.answering.parts import AnswerParts, ReadsAhead, Run, Settled, State
from tertulia.answering.prompting import system_text
from tertulia.answering.taint import Taint
from tertulia.answering.telling import Tell, side_by_side, told
from tertulia.domain.errors import ProviderFailed
from tertulia.domain.languages import ENGLISH
from tertulia.domain.replies import AnswerEvent, Token
from tertulia.domain.surfaces import Route, Style
from tertulia.ports import Question

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    type AgentGraph = CompiledStateGraph[State, Run, State, State]

STEPS_BESIDE_THE_AGENT = 10


def agent_graph() -> "AgentGraph":
    """Compile the agent's loop: it asks for tools and gets their results, until it answers in words."""
    from langgraph.graph import END, START, StateGraph

    # LangGraph hands the run over by the name of this parameter, which must have no type.
    async def agent(state: State, runtime) -> State:  # type: ignore[no-untyped-def]
        return await nodes.agent(state, runtime.context)

    async def tools(state: State, runtime) -> State:  # type: ignore[no-untyped-def]
        return await nodes.tools(state, runtime.context)

    graph = StateGraph(State, context_schema=Run)
    graph.add_node("agent", agent)
    graph.add_node("tools", tools)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", lambda state: "tools" if state["calls"] else END, ["tools", END])
    graph.add_conditional_edges("tools", lambda state: END if state["is_asking"] else "agent", ["agent", END])
    return graph.compile()


class GraphAnswer:
    """Answers questions by running the flow."""

    def __init__(self, parts: AnswerParts) -> None:
        self._parts = parts

    @cached_property
    def agent(self) -> "AgentGraph":
        """The compiled loop, made once."""
        return agent_graph()

    async def prepare(self) -> None:
        """Load LangGraph and compile the loop."""
        await asyncio.to_thread(lambda: self.agent)

    async def warm(self) -> None:
        """Have a model that can read ahead what spoken turns begin with."""
        if isinstance(self._parts.chat.model, ReadsAhead):
            tools = self._parts.tools.boxes.ours.specs
            simple = system_text(Route.SIMPLE, Style.SPOKEN, ENGLISH)
            self._parts.chat.model.read_ahead(
                [(simple, ()), (system_text(Route.CONTEXT, Style.SPOKEN, ENGLISH, tools), tools), (simple, ())]
            )

    async def __call__(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """Yield the events of the answer as the nodes tell them."""
        async with aclosing(told(lambda tell: self._answer(question, tell))) as events:
            async for event in events:
                yield event

    async def _answer(self, question: Question, tell: Tell) -> None:
        run = nodes.new_run(self._parts, question, tell)
        try:
            settled = await self._parts.settling(run)
            if settled is None:
                await self._asked(run)
            elif settled.steps:
                await self._agreed(run, settled)
        finally:
            await run.early.give_up()

    async def _asked(self, run: Run) -> None:
        first = await side_by_side(nodes.recall(run), self._route(run), nodes.history(run))
        state = nodes.ready(run, first)
        if state["route"] is Route.CONTEXT:
            await self._loop(run, state)
        else:
            await nodes.in_words(state, run)

    async def _agreed(self, run: Run, settled: Settled) -> None:
        """Go on from what was done; where no model can say so, a fixed sentence does."""
        await run.early.give_up()
        first = await side_by_side(nodes.recall(run), nodes.history(run), self._prepared())
        state = nodes.ready(run, first) | State(route=Route.CONTEXT, steps=settled.steps)
        if run.toolbox.taints(settled.tool):
            state["taint"] = Taint.NOW
        try:
            await self._loop(run, state)
        except ProviderFailed:
            if not settled.summary:
                raise
            run.tell(Token(text=settled.summary))

    async def _route(self, run: Run) -> State:
        state = await nodes.route(run)
        if state["route"] is Route.CONTEXT:
            await self.prepare()  # beside recall and history, which wait for the network
            await run.open_toolbox()
        return state

    async def _prepared(self) -> State:
        await self.prepare()
        return State()

    async def _loop(self, run: Run, state: State) -> None:
        most = 2 * run.question.request.surface.model_calls + STEPS_BESIDE_THE_AGENT
        config: Any = {"recursion_limit": most}
        await self.agent.ainvoke(state, config, context=run)
