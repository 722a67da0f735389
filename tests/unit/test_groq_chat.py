"""Groq's language models behind the ChatModel port."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import SecretStr

from tertulia.adapters.groq.chat import GroqChat
from tertulia.adapters.groq.connection import GroqConnection
from tertulia.domain.markup import MarkupFilter
from tertulia.domain.prompts import ChatMessage, ModelEvent, Prompt, TextDelta, TokensUsed, ToolCall, ToolSpec
from tests.fakes.clock import FakeClock
from tests.fakes.groq import KEY
from tests.fakes.vendor import Answer, Called, FakeGroq

MODEL = "qwen/qwen3.6-27b"
AGENT_MODEL = "openai/gpt-oss-20b"
HELLO = Prompt(messages=(ChatMessage(role="user", parts=("Hello",)),))
GET_TIME = ToolSpec(name="get_time", description="Tells the time.", parameters={"type": "object", "properties": {}})


@pytest.fixture
def chat(groq: GroqConnection) -> GroqChat:
    return GroqChat(groq, MODEL)


async def events_of(chat: GroqChat, prompt: Prompt = HELLO, tools: Sequence[ToolSpec] = ()) -> list[ModelEvent]:
    return [event async for event in chat.stream(prompt, tools)]


async def test_text_comes_in_the_pieces_in_which_it_is_written_and_tokens_are_counted(
    vendor: FakeGroq, chat: GroqChat
) -> None:
    vendor.chats = [Answer(pieces=("Hel", "lo", " there."))]
    assert await events_of(chat) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        TextDelta(" there."),
        TokensUsed(tokens_in=11, tokens_out=7),
    ]


async def test_a_prompt_asks_with_its_own_numbers(vendor: FakeGroq, chat: GroqChat) -> None:
    await events_of(chat, replace(HELLO, temperature=0.0, max_tokens=99, top_p=0.5))
    body = vendor.asked["chat"][0].body
    assert {name: body[name] for name in ("model", "temperature", "max_completion_tokens", "top_p", "stream")} == {
        "model": MODEL,
        "temperature": 0.0,
        "max_completion_tokens": 99,
        "top_p": 0.5,
        "stream": True,
    }
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MODEL, {"reasoning_effort": "none", "reasoning_format": "hidden"}),
        (AGENT_MODEL, {"reasoning_effort": "low", "include_reasoning": False}),
        ("llama-3.3-70b-versatile", {}),
    ],
)
async def test_only_thinking_models_are_told_how_to_think_since_the_others_refuse_it(
    vendor: FakeGroq, groq: GroqConnection, model: str, words: dict[str, object]
) -> None:
    await events_of(GroqChat(groq, model))
    body = vendor.asked["chat"][0].body
    said = {name: value for name, value in body.items() if "reasoning" in name and value is not None}
    assert said == words


async def test_braces_and_marks_in_a_text_reach_the_model_as_they_are(vendor: FakeGroq, chat: GroqChat) -> None:
    """L5."""
    texts = ("{your response} {0} {{x}}", '{"root": 1}', "f(x)={x} %s $x")
    system = ChatMessage(role="system", parts=("Be {brief}.",))
    await events_of(chat, Prompt(messages=(system, ChatMessage(role="user", parts=texts))))
    sent = vendor.asked["chat"][0].body["messages"]
    assert sent[0] == {"role": "system", "content": "Be {brief}."}
    assert [part["text"] for part in sent[1]["content"]] == list(texts)


async def test_a_whole_exchange_with_tools_is_sent_as_the_vendor_wants_it(vendor: FakeGroq, chat: GroqChat) -> None:
    call = ToolCall(id="c1", name="get_time", arguments='{"zone": "Europe/Lisbon é"}')
    messages = (
        ChatMessage(role="system", parts=("Be brief.", "Speak English.")),
        ChatMessage(role="user", parts=("What time is it?",)),
        ChatMessage(role="assistant", tool_calls=(call, ToolCall(id="c2", name="get_time", arguments="{broken"))),
        ChatMessage(role="tool", parts=("Noon.",), tool_call_id="c1"),
        ChatMessage(role="assistant", parts=("It is noon.",)),
        ChatMessage(role="user", parts=("Thanks.", "")),
    )
    await events_of(chat, Prompt(messages=messages), (GET_TIME,))
    body = vendor.asked["chat"][0].body
    system, question, calls, result, answer, thanks = body["messages"]
    assert system == {"role": "system", "content": "Be brief.\n\nSpeak English."}
    assert question == {"role": "user", "content": "What time is it?"}
    assert calls["content"] is None
    assert [(each["id"], each["function"]["arguments"]) for each in calls["tool_calls"]] == [
        ("c1", '{"zone": "Europe/Lisbon é"}'),
        ("c2", "{broken"),
    ]
    assert result == {"role": "tool", "content": "Noon.", "tool_call_id": "c1"}
    assert answer == {"role": "assistant", "content": "It is noon."}
    assert thanks == {"role": "user", "content": [{"type": "text", "text": "Thanks."}]}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["get_time"]
    assert body["tools"][0]["function"]["parameters"] == GET_TIME.parameters


async def test_half_a_surrogate_pair_in_a_tool_result_does_not_break_the_request(
    vendor: FakeGroq, chat: GroqChat
) -> None:
    await events_of(chat, Prompt(messages=(ChatMessage(role="tool", parts=("a\ud800b",), tool_call_id="c1"),)))
    assert vendor.asked["chat"][0].body["messages"][0]["content"] == "a?b"


@pytest.mark.parametrize("pieces", [("nu", "ll"), ("",), ("{", "}"), ("null",), (None,), (" ",)])
async def test_a_call_without_arguments_has_an_empty_object_however_it_is_streamed(
    vendor: FakeGroq, chat: GroqChat, pieces: tuple[str | None, ...]
) -> None:
    """G3."""
    vendor.chats = [Answer(pieces=(), calls=(Called(name="get_time", pieces=pieces),))]
    events = await events_of(chat, tools=(GET_TIME,))
    assert events[0] == ToolCall(id="call_1", name="get_time", arguments="{}")


async def test_several_calls_in_pieces_are_joined_each_for_itself_after_the_text(
    vendor: FakeGroq, chat: GroqChat
) -> None:
    calls = (
        Called(name="calculator", pieces=('{"expr', 'ession":', ' "1+1"}'), id="a"),
        Called(name="get_time", pieces=("{}",), id="b"),
    )
    vendor.chats = [Answer(pieces=("Let me see.",), calls=calls)]
    events = await events_of(chat, tools=(GET_TIME,))
    assert events[:3] == [
        TextDelta("Let me see."),
        ToolCall(id="a", name="calculator", arguments='{"expression": "1+1"}'),
        ToolCall(id="b", name="get_time", arguments="{}"),
    ]


async def test_thoughts_in_a_field_of_their_own_are_not_text(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [Answer(pieces=("Four.",), reasoning="2+2, easy.")]
    assert [event for event in await events_of(chat) if isinstance(event, TextDelta)] == [TextDelta("Four.")]


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (("<thi", "nk>secret plan</th", "ink>\n\nHel", "lo"), "Hello"),
        (
            ("<|channel|>analysis<|message|>2+2, easy.<|end|><|start|>assis", "tant<|channel|>final<|message|>Four."),
            "Four.",
        ),
    ],
)
async def test_thoughts_written_into_the_text_are_gone_after_the_filter(
    vendor: FakeGroq, chat: GroqChat, pieces: tuple[str, ...], shown: str
) -> None:
    """G5 and G6, over the wire."""
    vendor.chats = [Answer(pieces=pieces)]
    markup = MarkupFilter()
    texts = [markup.feed(event.text) for event in await events_of(chat) if isinstance(event, TextDelta)]
    assert "".join([*texts, markup.finish()]).strip() == shown


async def test_closing_the_stream_stops_the_vendor_at_once(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [Answer(pieces=("word ",) * 100_000)]
    events = chat.stream(HELLO)
    assert await anext(events) == TextDelta("word ")
    await events.aclose()
    async with asyncio.timeout(1):
        while not vendor.left:
            await asyncio.sleep(0.01)


async def test_cancelling_the_reader_stops_the_vendor_at_once(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [Answer(seconds_to_first=30)]
    reading = asyncio.create_task(events_of(chat))
    while not vendor.asked["chat"]:
        await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    async with asyncio.timeout(1):
        while not vendor.left:
            await asyncio.sleep(0.01)


async def test_two_answers_are_written_side_by_side(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [Answer(pieces=("one",), seconds_to_first=0.05), Answer(pieces=("two",), seconds_to_first=0.05)]
    both = await asyncio.gather(events_of(chat), events_of(chat))
    assert {next(event.text for event in events if isinstance(event, TextDelta)) for events in both} == {"one", "two"}
    assert chat.runs_side_by_side


async def test_a_reader_who_takes_his_time_is_not_a_vendor_that_is_slow(vendor: FakeGroq, chat: GroqChat) -> None:
    vendor.chats = [Answer(pieces=("a", "b"))]
    texts = []
    async for event in chat.stream(replace(HELLO, seconds=0.5)):
        texts.append(event)
        await asyncio.sleep(0.3)
    assert len(texts) == 3


async def test_making_ready_asks_the_vendor_nothing(vendor: FakeGroq, chat: GroqChat) -> None:
    await chat.prepare()
    assert vendor.asked["chat"] == []


@pytest.mark.parametrize("ending", ["/", "/openai/v1", "/openai/v1/"])
async def test_an_address_may_be_given_with_its_path(
    vendor: FakeGroq, vendor_server: tuple[FakeGroq, str], clock: FakeClock, ending: str
) -> None:
    connection = GroqConnection(SecretStr(KEY), clock, vendor_server[1] + ending)
    assert (await events_of(GroqChat(connection, MODEL)))[0] == TextDelta("Hello")
    await connection.close()


async def test_parts_made_ready_at_once_share_one_client(clock: FakeClock) -> None:
    connection = GroqConnection(SecretStr(KEY), clock)
    clients = await asyncio.gather(*(asyncio.to_thread(lambda: connection.sdk) for _ in range(8)))
    await connection.close()
    assert len({id(client) for client in clients}) == 1


def test_the_key_is_in_no_text_about_the_connection(groq: GroqConnection) -> None:
    assert KEY not in repr(groq)
    assert KEY not in repr(vars(groq))
