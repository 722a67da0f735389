"""How a turn is put together from its parts."""

from typing import TYPE_CHECKING

from tertulia.answering.graph import GraphAnswer
from tertulia.answering.parts import AnswerParts, Writer
from tertulia.answering.recall import Recall
from tertulia.assistant.safety import settling, tool_runner
from tertulia.ports import ChatModel
from tertulia.settings import Settings
from tertulia.usecases.announce import Announced
from tertulia.usecases.take_turn import TakeTurn
from tertulia.usecases.turn_desk import TurnDesk, TurnStores

if TYPE_CHECKING:
    from tertulia.assistant import Assistant

AGENT_TEMPERATURE = 0.0


def graph_answer(parts: "Assistant", own: ChatModel | None = None, temperature: float | None = None) -> GraphAnswer:
    """Build the graph over the models, or one model of the user's own, the memories and the tools."""
    settings = parts.settings
    return GraphAnswer(
        AnswerParts(
            conversations=parts.conversations,
            recall=Recall(parts.memories, settings.recall_seconds),
            router=parts.router,
            chat=_writer(
                own or parts.chat_model, settings, settings.llm_temperature if temperature is None else temperature
            ),
            agent=_writer(own or parts.agent_model, settings, AGENT_TEMPERATURE),
            tools=tool_runner(parts),
            settling=settling(parts),
            turn_seconds=settings.turn_seconds,
        )
    )


def turn_desk(parts: "Assistant") -> TurnDesk:
    """Build the desk where turns are handed in."""
    take_turn = TakeTurn(
        conversations=parts.conversations,
        hear=parts.hear,
        answer=parts.say_first,
        speak=parts.speak,
        languages=parts.languages,
        clock=parts.clock,
        follow_up=Announced(parts.follow_up, parts.user_stream),
        limits=parts.limits,
        wishes=parts.wishes,
        quiet=parts.quiet,
        prices=parts.settings.prices,
        turn_seconds=parts.settings.turn_seconds,
    )
    stores = TurnStores(conversations=parts.conversations, claims=parts.claims, events=parts.events)
    desk = TurnDesk(take_turn, stores, parts.limits, parts.clock)
    for listener in parts.listeners:
        desk.tell_when_stored(listener)
    return desk


def _writer(model: ChatModel, settings: Settings, temperature: float) -> Writer:
    return Writer(
        model=model,
        temperature=temperature,
        max_tokens=settings.llm_max_tokens,
        top_p=settings.llm_top_p,
        seconds=settings.model_seconds,
    )
