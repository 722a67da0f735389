"""The flow of an answer, whole: this file is the one description of it.

    recall ─┐                    ┌─> simple ──────────> end
    route ──┼─> ready ─ (route) ─┼─> persona ─────────> end
    history ┘                    └─> agent <─> tools ─> end

Every route but the agent's is answered in words alone, by the node and the prompt of its name.

Recall, routing and history run side by side. Where the model runs calls side by side too, `history` begins the simple
answer as soon as it has the last turns, and `recall` begins it anew when it finds memories: the answer is taken when
the route turns out to be simple, and thrown away otherwise.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cached_property
from typing import cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from tertulia.answering import nodes
from tertulia.answering.parts import AnswerParts, ReadsAhead, Run, State
from tertulia.answering.prompting import system_text
from tertulia.domain.languages import ENGLISH
from tertulia.domain.replies import AnswerEvent
from tertulia.domain.surfaces import Route, Style
from tertulia.ports import Question

type AnswerGraph = CompiledStateGraph[State, Run, State, State]

STEPS_BESIDE_THE_AGENT = 10
IN_WORDS_ALONE = tuple(route for route in Route if route is not Route.CONTEXT)


def answer_graph() -> AnswerGraph:
    """Compile the graph."""
    graph = StateGraph(State, context_schema=Run)
    graph.add_node("recall", nodes.recall)
    graph.add_node("route", nodes.route)
    graph.add_node("history", nodes.history)
    graph.add_node("ready", nodes.ready)
    for route in IN_WORDS_ALONE:
        graph.add_node(route.value, nodes.in_words)
        graph.add_edge(route.value, END)
    graph.add_node("agent", nodes.agent)
    graph.add_node("tools", nodes.tools)
    for first in ("recall", "route", "history"):
        graph.add_edge(START, first)
    graph.add_edge(["recall", "route", "history"], "ready")
    graph.add_conditional_edges(
        "ready",
        lambda state: "agent" if state["route"] is Route.CONTEXT else state["route"].value,
        ["agent", *IN_WORDS_ALONE],
    )
    graph.add_conditional_edges("agent", lambda state: "tools" if state["calls"] else END, ["tools", END])
    graph.add_edge("tools", "agent")
    return graph.compile()


class GraphAnswer:
    """Answers questions by running the graph."""

    def __init__(self, parts: AnswerParts) -> None:
        self._parts = parts

    @cached_property
    def graph(self) -> AnswerGraph:
        """The compiled graph, made once."""
        return answer_graph()

    async def prepare(self) -> None:
        """Compile the graph."""
        _ = self.graph

    async def warm(self) -> None:
        """Have a model that can read ahead what spoken turns begin with."""
        if isinstance(self._parts.chat.model, ReadsAhead):
            tools = [tool.spec for tool in self._parts.tools.tools]
            simple = system_text(Route.SIMPLE, Style.SPOKEN, ENGLISH)
            self._parts.chat.model.read_ahead(
                [(simple, ()), (system_text(Route.CONTEXT, Style.SPOKEN, ENGLISH, tools), tools), (simple, ())]
            )

    async def __call__(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """Yield the events of the answer as the nodes write them."""
        run = nodes.new_run(self._parts, question)
        stream = self.graph.astream(
            State(calls=(), steps=(), rounds=0),
            context=run,
            stream_mode="custom",
            config={"recursion_limit": 2 * question.request.surface.model_calls + STEPS_BESIDE_THE_AGENT},
        )
        try:
            async with aclosing(cast("AsyncGenerator[AnswerEvent]", stream)) as events:
                async for event in events:
                    yield event
        finally:
            await run.early.give_up()
