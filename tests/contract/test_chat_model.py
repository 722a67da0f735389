"""What every chat model promises, whoever runs it."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import pytest

from tertulia.adapters.embedded.llama import LlamaModel
from tertulia.adapters.embedded.llama_engine import LlamaEngine
from tertulia.adapters.groq.chat import GroqChat
from tertulia.domain.errors import ModelDown, ProviderFailed
from tertulia.domain.prompts import (
    ChatMessage,
    ModelEvent,
    Prompt,
    TextDelta,
    TokensUsed,
    ToolCall,
    ToolSpec,
)
from tertulia.ports import ChatModel
from tests.fakes.groq import ServedVendor
from tests.fakes.llama import ScriptedEngine
from tests.model_files import model_library

CALCULATOR = ToolSpec(
    name="calculator",
    description="Work out arithmetic.",
    parameters={
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
        "additionalProperties": False,
    },
)


class Vendor(Protocol):
    """Whoever runs the model in a test, and does what the test tells it."""

    def writing(self, *pieces: str) -> ChatModel: ...

    def calling(self, name: str, arguments: str) -> ChatModel: ...

    def failing(self) -> ChatModel: ...

    def writing_for_ever(self) -> tuple[ChatModel, Callable[[], bool]]:
        """Return a model that never ends by itself, and whether it was stopped."""
        ...


class LocalVendor:
    """The model in the process, over a scripted engine."""

    def writing(self, *pieces: str) -> ChatModel:
        return LlamaModel(ScriptedEngine((pieces,)), "tiny")

    def calling(self, name: str, arguments: str) -> ChatModel:
        return LlamaModel(ScriptedEngine(((f'{{"tool": "{name}", "arguments": {arguments}}}',),)), "tiny")

    def failing(self) -> ChatModel:
        return LlamaModel(ScriptedEngine(((ModelDown(),),)), "tiny")

    def writing_for_ever(self) -> tuple[ChatModel, Callable[[], bool]]:
        engine = ScriptedEngine((itertools.repeat("on "), ("ok",)), seconds_a_piece=0.002)
        return LlamaModel(engine, "tiny"), lambda: engine.stopped == 1


@pytest.fixture(params=["local", "groq", "openai", "anthropic", "fallback"])
def vendor(request: pytest.FixtureRequest) -> Vendor:
    match request.param:
        case "groq":
            model: ChatModel = GroqChat(request.getfixturevalue("groq"), "qwen/qwen3.6-27b")
        case "openai":
            model = request.getfixturevalue("openai")
        case "anthropic":
            model = request.getfixturevalue("anthropic")
            return ServedVendor(request.getfixturevalue("anthropic_vendor")[0], model)
        case "fallback":
            model = request.getfixturevalue("falling_back")
        case _:
            return LocalVendor()
    return ServedVendor(request.getfixturevalue("vendor_server")[0], model)


def asked(text: str) -> Prompt:
    system = ChatMessage(role="system", parts=("Be brief.",))
    return Prompt(messages=(system, ChatMessage(role="user", parts=(text,))), temperature=0.0, max_tokens=40)


async def all_of(stream: AsyncIterator[ModelEvent]) -> list[ModelEvent]:
    return [event async for event in stream]


async def test_text_arrives_whole_and_in_order_with_its_count(vendor: Vendor) -> None:
    pieces = ("Ça ", "va 🙂", " {braces}", " 你好")

    events = await all_of(vendor.writing(*pieces).stream(asked("Hi")))

    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "".join(pieces)
    assert isinstance(events[-1], TokensUsed)
    assert events[-1].tokens_out > 0


async def test_a_tool_call_carries_an_id_and_an_object_of_arguments(vendor: Vendor) -> None:
    model = vendor.calling("calculator", '{"expression": "2+2"}')

    events = await all_of(model.stream(asked("What is 2+2?"), [CALCULATOR]))

    [call] = [event for event in events if isinstance(event, ToolCall)]
    assert call.id
    assert call.name == "calculator"
    assert json.loads(call.arguments) == {"expression": "2+2"}
    assert not [event for event in events if isinstance(event, TextDelta)]


async def test_a_failure_is_one_of_ours(vendor: Vendor) -> None:
    with pytest.raises(ProviderFailed):
        await all_of(vendor.failing().stream(asked("Hi")))


async def test_closing_the_stream_stops_the_model(vendor: Vendor) -> None:
    model, was_stopped = vendor.writing_for_ever()
    async with aclosing(model.stream(asked("Count"))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    # What comes after the close shows that the model is free again.
    await all_of(model.stream(asked("Hi")))

    assert was_stopped()


def test_a_model_has_a_name_for_receipts(vendor: Vendor) -> None:
    assert vendor.writing("x").name


@pytest.fixture(scope="module")
def engine() -> Iterator[LlamaEngine]:
    engine = LlamaEngine(lambda: model_library("qwen-0.5b").path("qwen-0.5b"))
    yield engine
    engine.close()


@pytest.mark.models
async def test_the_small_model_answers_a_question(engine: LlamaEngine) -> None:
    events = await all_of(LlamaModel(engine, "qwen-0.5b").stream(asked("What is the capital of France?")))

    assert "Paris" in "".join(event.text for event in events if isinstance(event, TextDelta))
    assert isinstance(events[-1], TokensUsed)
    assert events[-1].tokens_in > 10


@pytest.mark.models
async def test_the_small_model_calls_the_calculator_and_answers_from_its_result(engine: LlamaEngine) -> None:
    model, prompt = LlamaModel(engine, "qwen-0.5b"), asked("How much is 1250 divided by 8?")

    [call, _] = await all_of(model.stream(prompt, [CALCULATOR]))
    assert isinstance(call, ToolCall)
    assert json.loads(call.arguments)["expression"].replace(" ", "") == "1250/8"

    result = (
        ChatMessage(role="assistant", tool_calls=(call,)),
        ChatMessage(role="tool", parts=("156.25",), tool_call_id=call.id),
    )
    followed = Prompt(messages=(*prompt.messages, *result), temperature=0.0, max_tokens=40)
    events = await all_of(model.stream(followed, [CALCULATOR]))
    assert "156.25" in "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.models
async def test_the_small_model_takes_a_prompt_longer_than_its_context() -> None:
    engine = LlamaEngine(lambda: model_library("qwen-0.5b").path("qwen-0.5b"), context=256)
    # Rare characters are three tokens each, which no estimate expects.
    rare = "".join(chr(0x2F00 + place % 200) for place in range(400))
    prompt = Prompt(messages=(ChatMessage(role="user", parts=(rare,)),), max_tokens=1)

    events = await all_of(LlamaModel(engine, "qwen-0.5b").stream(prompt))

    assert isinstance(events[-1], TokensUsed)
    assert 100 < events[-1].tokens_in < 256
    engine.close()


@pytest.mark.models
async def test_the_small_model_is_free_soon_after_its_reader_has_left(engine: LlamaEngine) -> None:
    model = LlamaModel(engine, "qwen-0.5b")
    prompt = Prompt(
        messages=(ChatMessage(role="user", parts=("Count from one to a thousand in words.",)),),
        temperature=0.0,
        max_tokens=3000,
    )
    async with aclosing(model.stream(prompt)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break

    short = Prompt(messages=asked("Say yes.").messages, max_tokens=3, seconds=20.0)
    assert await all_of(model.stream(short))


@pytest.mark.models
async def test_the_small_model_is_started_again_after_its_process_has_died() -> None:
    engine = LlamaEngine(lambda: model_library("qwen-0.5b").path("qwen-0.5b"))
    model = LlamaModel(engine, "qwen-0.5b")
    prompt = Prompt(messages=asked("Count to a hundred in words.").messages, max_tokens=400, temperature=0.0)

    async def killed_in_the_middle() -> None:
        async for event in model.stream(prompt):
            if isinstance(event, TextDelta) and engine.process_id:
                os.kill(engine.process_id, signal.SIGKILL)

    with pytest.raises(ModelDown):
        await killed_in_the_middle()
    events = await all_of(model.stream(asked("What is the capital of France?")))

    assert "Paris" in "".join(event.text for event in events if isinstance(event, TextDelta))
    await model.close()


@pytest.mark.models
def test_the_model_does_not_outlive_its_owner() -> None:
    path = model_library("qwen-0.5b").path("qwen-0.5b")
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(path)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    child = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    owner.stdout.close()

    assert is_gone_within(child, seconds=20)


OWNER = """
import sys, time
from pathlib import Path
from tertulia.adapters.embedded.llama_engine import LlamaEngine
engine = LlamaEngine(lambda: Path(sys.argv[1]))
engine.begin()
print(engine.process_id, flush=True)
time.sleep(60)
"""


def is_gone_within(process: int, seconds: float) -> bool:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        try:
            state = Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
