"""The agent's loop: tools run, fail and end by rule, and the history stays valid."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tertulia.domain.effects import Effect
from tertulia.domain.prompts import ChatMessage, Prompt, ToolCall, ToolResult, ToolSpec
from tertulia.domain.replies import RouteChosen, ToolCalled, ToolReturned
from tertulia.domain.surfaces import SCREEN, Route, RouteReason
from tertulia.ports import ToolContext
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedClassifier, ScriptedModel
from tests.turns import USER, done_of, events_of, request, words_of


def call(name: str, arguments: str = "{}", call_id: str = "c1") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


class OneTool:
    """A tool that a test scripts."""

    is_configured = True

    def __init__(
        self, name: str = "web_search", answer: ToolResult | Exception | None = None, seconds: float = 0
    ) -> None:
        parameters = {"type": "object", "properties": {}}
        self.spec = ToolSpec(name=name, description="A test's tool.", parameters=parameters, effect=Effect.NONE)
        self.answer = answer or ToolResult(text="found")
        self.seconds = seconds
        self.seen: list[tuple[Mapping[str, Any], ToolContext]] = []

    async def __call__(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        self.seen.append((arguments, context))
        await asyncio.sleep(self.seconds)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def agent(make_assistant: MakeAssistant, model: ScriptedModel, *tools: OneTool) -> Any:
    parts = {"tools": tools} if tools else {}
    return make_assistant(chat_model=model, classifier=ScriptedClassifier(Route.CONTEXT), **parts)


def assert_calls_are_paired(prompt: Prompt) -> None:
    """Every call has exactly one result after it, and no result comes without its call."""
    open_calls: list[str] = []
    for message in prompt.messages:
        if message.role == "tool":
            open_calls.remove(message.tool_call_id)
        else:
            assert not open_calls
            open_calls = [one.id for one in message.tool_calls]
    assert not open_calls


async def test_the_calculator_answers_through_the_agent(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("calculator", '{"expression": "15% of 80"}')], ["It is 12."]])
    assistant = agent(make_assistant, model)
    events = await events_of(assistant, request("What is 15% of 80?"))
    assert ToolCalled(tool="calculator", arguments={"expression": "15% of 80"}, call_id="c1") in events
    [returned] = [event for event in events if isinstance(event, ToolReturned)]
    assert (returned.ok, returned.result) == (True, "12")
    assert words_of(events) == "It is 12."
    assert model.prompts[1].messages[-1] == ChatMessage(role="tool", parts=("12",), tool_call_id="c1")
    assert_calls_are_paired(model.prompts[1])


async def test_the_tools_of_a_turn_travel_with_it_to_the_next(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("calculator", '{"expression": "2+2"}')], ["Four."], ["As I said."]])
    assistant = agent(make_assistant, model)
    first = await done_of(assistant, request("2+2?"))
    assert first.receipt.tools_used == ("calculator",)
    await done_of(assistant, request("Sure?", conversation_id=first.conversation_id))
    assert_calls_are_paired(model.prompts[-1])
    assert any(message.role == "tool" and message.text == "4" for message in model.prompts[-1].messages)


async def test_a_keyword_takes_the_agent_without_a_classifier(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant(classifier=ScriptedClassifier(Route.PERSONA))
    events = await events_of(assistant, request("add a task to my to-do list"))
    [chosen] = [event for event in events if isinstance(event, RouteChosen)]
    assert (chosen.route, chosen.reason) == (Route.CONTEXT, RouteReason.KEYWORD)


async def test_a_model_that_calls_for_ever_ends_with_the_limit_sentence(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("web_search")]] * 30)
    assistant = agent(make_assistant, model, OneTool())
    done = await done_of(assistant, request("Search"))
    assert len(model.prompts) == 10
    assert model.tools[-1] == ()
    assert done.response.startswith("I hit my limit")
    assert done.receipt.degraded == ("limit",)
    model.scripts = [["Fine."]]
    assert (await done_of(assistant, request("Next", conversation_id=done.conversation_id))).response == "Fine."
    assert_calls_are_paired(model.prompts[-1])


async def test_the_screen_gets_three_calls_and_its_own_last_words(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("web_search")]] * 9)
    assistant = agent(make_assistant, model, OneTool())
    done = await done_of(assistant, request("查", surface=SCREEN, language="zh-CN"))
    assert len(model.prompts) == 3
    assert done.response == "抱歉，处理超时，请重试。"


async def test_at_the_limit_the_best_answer_from_what_was_gathered_wins(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("web_search")]] * 2 + [["Gathered this."]])
    assistant = agent(make_assistant, model, OneTool())
    done = await done_of(assistant, request("Search", surface=SCREEN))
    assert done.response == "Gathered this."


async def test_a_tool_that_raises_tells_the_model_and_not_the_user(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("web_search")], ["Which date?"], ["Hello."]])
    assistant = agent(make_assistant, model, OneTool(answer=ValueError("bad date")))
    events = await events_of(assistant, request("Remind me"))
    assert words_of(events) == "Which date?"
    assert "bad date" in model.prompts[1].messages[-1].text
    assert not any("Traceback" in message.text for message in model.prompts[1].messages)
    [returned] = [event for event in events if isinstance(event, ToolReturned)]
    assert (returned.ok, returned.summary) == (False, "web_search failed")
    assert (await done_of(assistant, request("Hi"))).response == "Hello."


@pytest.mark.parametrize("arguments", ["", "null", "{}"])
async def test_missing_arguments_are_an_empty_object(make_assistant: MakeAssistant, arguments: str) -> None:
    tool = OneTool("get_time")
    model = ScriptedModel([[call("get_time", arguments)], ["Noon."]])
    events = await events_of(agent(make_assistant, model, tool), request("Time?"))
    assert [seen for seen, _ in tool.seen] == [{}]
    assert ToolCalled(tool="get_time", arguments={}, call_id="c1") in events


@pytest.mark.parametrize("asked", [call("web_search", "[1]"), call("web_search", "{broken"), call("no_such_tool")])
async def test_a_call_that_cannot_run_is_answered_in_words(make_assistant: MakeAssistant, asked: ToolCall) -> None:
    tool = OneTool()
    model = ScriptedModel([[asked], ["Never mind."]])
    done = await done_of(agent(make_assistant, model, tool), request("Go"))
    assert done.response == "Never mind."
    assert not tool.seen
    assert_calls_are_paired(model.prompts[-1])


async def test_tools_run_side_by_side_and_keep_their_order(make_assistant: MakeAssistant) -> None:
    both = OneTool("slow", ToolResult(text="late"), seconds=0.2), OneTool("fast", ToolResult(text="soon"), seconds=0.2)
    model = ScriptedModel([[call("slow", call_id="a"), call("fast", call_id="b")], ["Both."]])
    events = await events_of(agent(make_assistant, model, *both), request("Go"))
    assert [event.tool for event in events if isinstance(event, ToolReturned)] == ["slow", "fast"]
    done = events[-1]
    assert done.receipt.stages["tools"] < 390  # type: ignore[union-attr]


async def test_a_tool_without_an_answer_costs_its_own_time_only(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("web_search")], ["It did not answer."]])
    assistant = agent(make_assistant, model, OneTool(seconds=30))
    object.__setattr__(assistant.acting, "seconds", 0.05)
    done = await done_of(assistant, request("Go"))
    assert done.response == "It did not answer."
    assert "0.05 seconds" in model.prompts[1].messages[-1].text


async def test_a_long_result_is_cut_and_the_cut_is_marked(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel([[call("web_search")], ["Long."]])
    await done_of(agent(make_assistant, model, OneTool(answer=ToolResult(text="x" * 20_000))), request("Go"))
    told = model.prompts[1].messages[-1].text
    assert len(told) < 10_050
    assert "cut" in told[-20:]


async def test_braces_reach_the_model_as_they_stand(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    text = "{your response} {0} {{x}} f(x)={x}"
    await done_of(make_assistant(chat_model=model), request(text))
    assert model.prompts[0].messages[-1].parts[-1] == text


async def test_tools_know_whose_turn_it_is(make_assistant: MakeAssistant) -> None:
    tool = OneTool()
    assistant = agent(make_assistant, ScriptedModel([[call("web_search")], ["Ok."]]), tool)
    done = await done_of(assistant, request("Go", timezone="Asia/Shanghai", language="de"))
    [(_, context)] = tool.seen
    assert context == ToolContext(
        user=USER,
        conversation_id=done.conversation_id,
        turn_id=done.turn_id,
        language="de",
        timezone="Asia/Shanghai",
    )
