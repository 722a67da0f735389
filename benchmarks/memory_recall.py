"""Recall: what it adds to the first token of a user with many memories, and what a slow hosted service costs."""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.delays import Delays, Vendors
from benchmarks.vendor_turn import RUNS, in_sequence, ours
from tertulia.adapters.embedded.clock import SystemClock
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_memories import SqliteMemoryRecords
from tertulia.adapters.embedded.stores import EmbeddedStores
from tertulia.adapters.vectors import blob_of
from tertulia.adapters.vendored_memories import VendoredMemories
from tertulia.assistant import Assistant
from tertulia.domain.memories import Memory, memory_number
from tertulia.domain.replies import Token
from tertulia.ports import Embedder
from tertulia.ports.memories import MemoryRecord, MemoryStore
from tertulia.settings import Settings
from tests.fakes.scripted import (
    NoMemories,
    OneLanguage,
    ScriptedDecoder,
    ScriptedDetector,
    ScriptedModel,
    ScriptedTranscriber,
)
from tests.turns import request

MEMORIES = (100, 1_000, 10_000)
EMBEDDED = 500
TURNS = 60
ROUNDS = 4
ASKED = "Can I eat peanuts?"
NO_TIME = Delays(recall=0, classify=0, first_token=0, next_token=0, speech=0, speech_a_character=0, transcribe=0)
USER = "user-1"
INTRODUCTION = """Recall of one user's memories, the real MiniLM and SQLite included, everything else taking no time: what it adds to the first
token beside the same turn without any memories. Budget: 20 ms at 10,000 memories.

Then the hosted memory service at its published 880 ms beside the sequential reading of the first seed (recall, then classifier, then answer).
Budget: first token at most 0.35 of it, with the right memories in the prompt."""

_NOUNS = (
    "tea",
    "jazz",
    "my dentist",
    "the garden",
    "Portuguese",
    "my sister",
    "the car",
    "running",
    "chess",
    "the roof",
)
_FRAMES = (
    "I like {} on {}",
    "I have {} every {}",
    "Ich denke an {} am {}",
    "Me gusta {} los {}",
    "my plan for {} is on {}",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_RIGHT = ("I am allergic to peanuts", "Peanuts give me a rash")


class SlowService:
    """A hosted service that takes its time for everything."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def add(self, memory: Memory) -> str:
        """Store nothing, slowly."""
        await asyncio.sleep(self._seconds)
        return f"there-{memory.id}"

    async def remove(self, *_: str) -> None:
        """Delete nothing, slowly."""
        await asyncio.sleep(self._seconds)

    async def all(self, *_: str) -> Sequence[Memory]:
        """Know nothing, slowly."""
        await asyncio.sleep(self._seconds)
        return ()


def contents(count: int) -> list[str]:
    """Return so many different things that somebody might say."""
    dice = random.Random(7)  # noqa: S311
    return [
        f"{dice.choice(_FRAMES).format(dice.choice(_NOUNS), dice.choice(_DAYS))}, number {place}"
        for place in range(count)
    ]


async def filled(database: Database, embedder: Embedder, count: int) -> None:
    """Write memories in one go, as if they had been learned one by one."""
    texts = contents(count)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    # Their vectors are those of 500 of them: embedding each would take minutes and change nothing.
    vectors = await embedder.embed(texts[:EMBEDDED])
    records = [
        MemoryRecord(
            memory=Memory(
                id=memory_number(at + timedelta(minutes=place)),
                user=USER,
                content=text,
                created_at=at + timedelta(minutes=place),
            ),
            model=embedder.name,
            vector=blob_of(vectors[place % len(vectors)]),
        )
        for place, text in enumerate(texts)
    ]
    await SqliteMemoryRecords(database, SystemClock()).put(USER, records)


def assistant_of(delays: Delays, folder: Path, memories: MemoryStore | NoMemories) -> Assistant:
    """Build the product with its real stores and graph over these memories, its vendors behind delays."""
    vendors = Vendors(delays)
    return Assistant(
        Settings(data_dir=folder),
        chat_model=vendors.model,
        agent_model=vendors.model,
        classifier=vendors.classifier,
        memories=memories,
        transcriber=vendors.ear,
        synthesizer=vendors.voice,
        decoder=ScriptedDecoder(),
        detector=ScriptedDetector(),
        languages=OneLanguage(),
        embedder=None,
    )


async def first_tokens(assistant: Assistant, turns: int) -> list[float]:
    """Return the milliseconds to the first token of some turns, after five that warm up."""
    times = []
    for place in range(turns + 5):
        started = time.perf_counter()
        taken = await assistant.turns.take(request(f"When do I go running, and with whom? {place}"))
        async for numbered in taken.events():
            if isinstance(numbered.event, Token):
                times.append((time.perf_counter() - started) * 1000)
                break
        async for _ in taken.events():
            pass
    return times[5:]


async def added(embedder: Embedder, count: int) -> str:
    """Measure turns with and without memories, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "memories.db")
        await filled(database, embedder, count)
        store = EmbeddedStores(database, Path(folder), SystemClock()).memories(embedder)
        started = time.perf_counter()
        await store.recall(USER, "running", 5)
        loading = (time.perf_counter() - started) * 1000
        alone = assistant_of(NO_TIME, Path(folder) / "alone", NoMemories())
        knowing = assistant_of(NO_TIME, Path(folder) / "knowing", store)
        without, with_memories, recalls = [], [], []
        for _ in range(ROUNDS):
            without += await first_tokens(alone, TURNS // ROUNDS)
            with_memories += await first_tokens(knowing, TURNS // ROUNDS)
        for place in range(TURNS):
            started = time.perf_counter()
            await store.recall(USER, f"When do I go running, and with whom? {place}", 5)
            recalls.append((time.perf_counter() - started) * 1000)
        for assistant in (alone, knowing):
            await assistant.close()
        await database.close()
    more = statistics.median(with_memories) - statistics.median(without)
    late = statistics.quantiles(recalls, n=20)[-1]
    return (
        f"| {count:,} | {statistics.median(without):.1f} | {statistics.median(with_memories):.1f} | {more:.1f} "
        f"| {statistics.median(recalls):.1f} | {late:.1f} | {loading:.0f} |"
    )


async def beside_the_sequence(embedder: Embedder, *, is_spoken: bool) -> str:
    """Measure a turn beside the sequence, both with the hosted service."""
    delays = Delays()
    sequence = [await in_sequence(Vendors(delays), is_spoken=is_spoken) for _ in range(RUNS)]
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "memories.db")
        own = EmbeddedStores(database, Path(folder), SystemClock()).memories(embedder)
        store = VendoredMemories(own, SlowService(delays.recall))
        for place, text in enumerate(_RIGHT):
            at = datetime(2026, 1, 1, 12, place, tzinfo=UTC)
            await store.remember(Memory(id=memory_number(at), user=USER, content=text, created_at=at))
        assistant = assistant_of(delays, Path(folder), store)
        heard = assistant.transcriber
        assert isinstance(heard, ScriptedTranscriber)
        heard.text = ASKED
        await ours(assistant, is_spoken=is_spoken)
        turns = [await ours(assistant, is_spoken=is_spoken, text=ASKED) for _ in range(RUNS)]
        model = assistant.chat_model
        assert isinstance(model, ScriptedModel)
        shown = sum(text in "".join(model.prompts[-1].messages[-1].parts) for text in _RIGHT)
        await assistant.close()
        await database.close()
    first = statistics.median(turn.first_token for turn in turns)
    base = statistics.median(turn.first_token for turn in sequence)
    says = ", ".join(turns[-1].degraded) or "nothing missing"
    name = "spoken" if is_spoken else "typed"
    return f"| {name} | {base:.0f} | {first:.0f} | {first / base:.3f} | {shown} of {len(_RIGHT)} | {says} |"


async def _tables() -> str:
    assistant = Assistant(Settings())
    embedder = assistant.embedder
    rows = [await added(embedder, count) for count in MEMORIES]
    beside = [await beside_the_sequence(embedder, is_spoken=is_spoken) for is_spoken in (False, True)]
    await assistant.close()
    return "\n".join(
        [
            "| memories | first token without any, ms | with them, ms | recall adds, ms | recall alone, median, ms "
            "| 19 of 20 below, ms | the first recall of a process, ms |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
            "| turn | in sequence, first token, ms | ours, ms | of the sequence | right memories in the prompt "
            "| receipt says |",
            "| --- | --- | --- | --- | --- | --- |",
            *beside,
        ]
    )


def report() -> str:
    """Run it and return the tables."""
    return asyncio.run(_tables())
