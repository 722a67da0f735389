"""The local language model: streams, chooses tools by form, and serves one call at a time."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass

from tertulia.adapters.embedded.llama_engine import Engine
from tertulia.adapters.embedded.llama_prompt import fitted_messages
from tertulia.adapters.embedded.llama_queue import LlamaQueue
from tertulia.adapters.embedded.tool_choice import ChoiceExamples, ToolChoice, shipped_examples
from tertulia.domain.errors import ProviderFailed, ProviderTimeout
from tertulia.domain.prompts import (
    ChatMessage,
    Json,
    ModelEvent,
    Prompt,
    QueuedBehind,
    TextDelta,
    TokensUsed,
    ToolCall,
    ToolSpec,
)

MOST_ANSWER_SHARE = 4
"""A quarter of the context is kept free for the answer at most."""
CHOICE_TOKENS = 160
FITTING_ATTEMPTS = 4


class _ContextExceeded(Exception):
    """The prompt came out longer than estimated."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens)
        self.tokens = tokens


@dataclass
class _Call:
    """One call of the model: what it may still take, and what it has counted."""

    seconds: float
    """Waiting for the model; the time a reader takes over a piece does not count."""
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def used(self) -> TokensUsed:
        """The tokens counted so far."""
        return TokensUsed(tokens_in=self.tokens_in, tokens_out=self.tokens_out)

    def count(self, usage: Mapping[str, int]) -> None:
        """Add what the model has counted."""
        self.tokens_in += usage.get("prompt_tokens", 0)
        self.tokens_out += usage.get("completion_tokens", 0)


class LlamaModel:
    """A ChatModel over a llama.cpp engine."""

    runs_side_by_side = False

    def __init__(
        self,
        engine: Engine,
        name: str,
        queue: LlamaQueue | None = None,
        examples: Callable[[], ChoiceExamples] = shipped_examples,
    ) -> None:
        self.name = name
        self._engine = engine
        self._queue = queue or LlamaQueue()
        self._examples = examples()
        self._reading: asyncio.Task[None] | None = None
        # The one thread serializes calls: one that is told to stop may need a moment to notice.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llama")

    async def begin(self) -> None:
        """Have the model loaded beside what else there is to do; raises NotConfigured."""
        await asyncio.to_thread(self._engine.begin)

    async def prepare(self) -> None:
        """Load the model ahead of its first call; raises NotConfigured."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.load)

    def read_ahead(self, systems: Sequence[tuple[str, Sequence[ToolSpec]]]) -> None:
        """Read system texts, and the examples for their tools, in the back, until the first call comes."""
        self._reading = asyncio.create_task(self._read_ahead(systems))

    async def _read_ahead(self, systems: Sequence[tuple[str, Sequence[ToolSpec]]]) -> None:
        user = ChatMessage(role="user", parts=("1 + 1",))
        with self._queue.place() as place:
            async for _ in place.until_first():
                pass
            for system, tools in systems:
                prompt = Prompt(messages=(ChatMessage(role="system", parts=(system,)), user), max_tokens=1)
                await self._tool_call(prompt, tools, _Call(prompt.seconds))
                async with aclosing(self._answer(prompt, _Call(prompt.seconds))) as texts:
                    async for _ in texts:
                        pass

    async def _stop_reading(self) -> None:
        if self._reading is not None:
            reading, self._reading = self._reading, None
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def close(self) -> None:
        """Free the model's memory, after the running call."""
        await self._stop_reading()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.close)
        self._thread.shutdown(wait=False)

    async def stream(self, prompt: Prompt, tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[ModelEvent]:
        """Wait in line, then answer with a tool call or with text as it is written."""
        await self._stop_reading()
        with self._queue.place() as place:
            async for ahead in place.until_first():
                yield QueuedBehind(ahead)
            call = _Call(prompt.seconds)
            if chosen := await self._tool_call(prompt, tools, call):
                yield chosen
            else:
                async with aclosing(self._answer(prompt, call)) as texts:
                    async for text in texts:
                        yield TextDelta(text)
            yield call.used

    async def _tool_call(self, prompt: Prompt, tools: Sequence[ToolSpec], call: _Call) -> ToolCall | None:
        """Ask for the tool that the user's last words want; with results at hand it is time to answer."""
        last = prompt.messages[-1]
        if not tools or last.role != "user" or not last.parts:
            return None
        # The user's own words are the last part; what stands before them is data.
        choice, words = ToolChoice(tools, self._examples), last.parts[-1]
        if not choice.is_possible(words):
            return None
        asked = words[: self._engine.context]
        body = {
            "messages": choice.messages(asked),
            "response_format": choice.response_format(asked),
            "temperature": 0.0,
            "max_tokens": CHOICE_TOKENS,
        }
        try:
            async with aclosing(self._texts(body, call)) as texts:
                return choice.call_in("".join([text async for text in texts]))
        except _ContextExceeded:
            # Words too long for the choice are no request for a small tool.
            return None

    async def _answer(self, prompt: Prompt, call: _Call) -> AsyncGenerator[str]:
        context = self._engine.context
        room = context - min(prompt.max_tokens, context // MOST_ANSWER_SHARE)
        for _ in range(FITTING_ATTEMPTS):
            body = {
                "messages": fitted_messages(prompt.messages, room),
                "temperature": prompt.temperature,
                "top_p": prompt.top_p,
                "max_tokens": prompt.max_tokens,
                **_held_to(prompt.form),
            }
            try:
                async with aclosing(self._texts(body, call)) as texts:
                    async for text in texts:
                        yield text
            except _ContextExceeded as excess:
                room = room * room // max(excess.tokens, room + 1) * 9 // 10
            else:
                return
        raise ProviderFailed

    async def _texts(self, body: Mapping[str, Json], call: _Call) -> AsyncGenerator[str]:
        async with aclosing(self._chunks(body, call)) as chunks:
            async for chunk in chunks:
                if error := chunk.get("error"):
                    raise _failure(error)
                call.count(chunk.get("usage") or {})
                for choice in chunk.get("choices", ()):
                    if text := choice.get("delta", {}).get("content"):
                        yield text

    async def _chunks(self, body: Mapping[str, Json], call: _Call) -> AsyncGenerator[Json]:
        """Bring the chunks over from the model's thread, and stop the model when nobody reads on."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[Json] = asyncio.Queue()
        stopped = threading.Event()

        def on_chunk(chunk: Json) -> bool:
            if not stopped.is_set():
                loop.call_soon_threadsafe(arrived.put_nowait, chunk)
            return stopped.is_set()

        job = loop.run_in_executor(self._thread, self._engine.complete, _streamed(body), on_chunk)
        job.add_done_callback(lambda _: arrived.put_nowait(None))
        try:
            while (chunk := await _within(call, arrived.get())) is not None:
                yield chunk
            await job
        finally:
            stopped.set()
            job.cancel()


async def _within(call: _Call, getting: Json) -> Json:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    try:
        async with asyncio.timeout(call.seconds):
            return await getting
    except TimeoutError as error:
        raise ProviderTimeout from error
    finally:
        call.seconds -= loop.time() - begun


def _held_to(form: Mapping[str, Json] | None) -> dict[str, Json]:
    return {"response_format": {"type": "json_schema", "json_schema": {"schema": dict(form)}}} if form else {}


def _streamed(body: Mapping[str, Json]) -> dict[str, Json]:
    # Progress on the prompt is of no interest, but each report of it is an occasion to stop.
    wishes = {"stream": True, "stream_options": {"include_usage": True}, "cache_prompt": True, "return_progress": True}
    return {**body, **wishes}


def _failure(error: Mapping[str, Json]) -> Exception:
    if error.get("type") == "exceed_context_size_error":
        return _ContextExceeded(int(error.get("n_prompt_tokens", 0)))
    return ProviderFailed()
