"""Search of past conversations as a user's summaries grow from a thousand to a hundred thousand, on real files."""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertulia.adapters.embedded.minilm import MiniLmEmbedder
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_summaries import SqliteSummaries, words_of
from tertulia.adapters.vectors import blob_of
from tertulia.domain.summaries import Match, SummaryEntry, Vector, text_to_index
from tertulia.usecases.search import CANDIDATES, Search
from tests.model_files import model_library

if TYPE_CHECKING:
    import numpy as np

SIZES = (1_000, 10_000, 100_000)
USER = "ana"
READ = 2_000
"""Summaries whose text the embedder reads; the rest mix two of their meanings and words."""
SEARCHES = 100
INTRODUCTION = """One user's summaries in SQLite, as `tertulia serve` keeps them: 2,000 texts read by all-MiniLM-L6-v2, the others mixed from two
of these each, in words and in meaning. 100 questions of five words, half of them nobody's. "Hybrid" is the index's part of a search, its vectors
and its words at once, with the question's vector at hand; "search" is all of it, embedding included. "Same five" is the share of
the five nearest of an exact comparison that the search by codes finds too. Budgets: an embedding at most 6 ms, hybrid at most 25 ms
at the 95th percentile of 100,000, and less than a hundred times what 1,000 take."""

_SUBJECTS = "train|dinner|garden|marathon|novel|budget|kitchen|passport|violin|server|holiday|school|doctor|bicycle|roof|wedding|tax|cat|language|photo"
_ACTIONS = "plan|repair|compare|book|cancel|learn|describe|order|paint|measure|translate|move|sell|explain|prepare|clean|write|test|count|draw"
_PLACES = "Porto|Berlin|Kyoto|Lima|Oslo|Cairo|Quebec|Vienna|Seoul|Dublin|Accra|Hanoi|Malmo|Tunis|Zagreb|Bergen|Perth|Leeds|Nantes|Riga"
_THINGS = "ticket|lamp|letter|recipe|engine|contract|ladder|carpet|wallet|cable|bottle|jacket|window|basket|needle|helmet|mirror|blanket|hammer|whistle"


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Milliseconds at one size."""

    summaries: int
    first: float
    """The first search after a start, which reads the codes."""
    hybrid: tuple[float, float]
    """The median and the 95th percentile."""
    whole: tuple[float, float]
    same_five: float


def report() -> str:
    """Measure and tell."""
    return asyncio.run(_measured())


async def _measured() -> str:
    embedder = MiniLmEmbedder(model_library("minilm").path("minilm"))
    await embedder.prepare()
    chance = random.Random(1)  # noqa: S311
    texts = [_text(chance, number) for number in range(READ)]
    meanings = await embedder.embed([text_to_index(*text) for text in texts])
    questions = [_question(chance, texts) for _ in range(SEARCHES)]
    asked = [tuple(values) for values in await embedder.embed(questions)]
    one = [await _ms(lambda question=question: embedder.embed([question])) for question in questions]  # type: ignore[misc]
    lines = [
        f"One embedding: median {statistics.median(one):.1f} ms, 95th percentile {_late(one):.1f} ms.",
        "",
        "| summaries | first, ms | hybrid, ms (p95) | search, ms (p95) | same five |",
        "|---:|---:|---:|---:|---:|",
    ]
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            entries = _entries(size, texts, meanings, chance)
            timing = await _timed(Path(folder), entries, embedder, list(zip(questions, asked, strict=True)))
        lines.append(
            f"| {timing.summaries:,} | {timing.first:.0f} | {timing.hybrid[0]:.1f} ({timing.hybrid[1]:.1f}) |"
            f" {timing.whole[0]:.1f} ({timing.whole[1]:.1f}) | {timing.same_five:.3f} |"
        )
    return "\n".join(lines)


async def _timed(
    folder: Path, entries: Iterator[SummaryEntry], embedder: MiniLmEmbedder, asked: list[tuple[str, tuple[float, ...]]]
) -> Timing:
    database = Database(folder / "tertulia.db")
    try:
        size, matrix = await _fill(database, entries)
        index = SqliteSummaries(database)
        vectors = [Vector(values, embedder.name) for _, values in asked]

        async def hybrid(question: str, vector: Vector) -> tuple[list[Match], list[Match]]:
            near, sharing = await asyncio.gather(
                index.nearest(USER, vector, CANDIDATES), index.with_words(USER, question, CANDIDATES)
            )
            return near, sharing

        first = await _ms(lambda: hybrid(asked[0][0], vectors[0]))
        pairs = [(question, vector) for (question, _), vector in zip(asked, vectors, strict=True)]
        hybrids = [await _ms(lambda pair=pair: hybrid(*pair)) for pair in pairs]  # type: ignore[misc]
        search = Search(embedder=embedder, summaries=index)
        whole = [await _ms(lambda question=question: search(USER, question)) for question, _ in asked]  # type: ignore[misc]
        same = [_same(matrix, vector, await index.nearest(USER, vector, 5)) for vector in vectors]
    finally:
        await database.close()
    return Timing(
        summaries=size,
        first=first,
        hybrid=(statistics.median(hybrids), _late(hybrids)),
        whole=(statistics.median(whole), _late(whole)),
        same_five=statistics.mean(same),
    )


async def _fill(database: Database, entries: Iterator[SummaryEntry]) -> "tuple[int, np.ndarray[Any, Any]]":
    """Write what `put` would write, in one transaction, and return all vectors for the exact comparison."""
    import numpy as np

    from tertulia.adapters.code_shelf import code_of

    vectors: list[bytes] = []
    async with database.writing() as connection:
        for number, entry in enumerate(entries, start=1):
            values = blob_of(entry.vector.values)
            vectors.append(values)
            await connection.execute(
                "INSERT INTO summary_entries"
                " (id, user, conversation_id, title, overview, created_at, model, vector, code, revision)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    USER,
                    entry.conversation_id,
                    entry.title,
                    entry.overview,
                    entry.created_at.isoformat(),
                    entry.vector.model,
                    values,
                    code_of(entry.vector.values),
                    number,
                ),
            )
            words = words_of(USER, text_to_index(entry.title, entry.overview))
            await connection.execute("INSERT INTO summary_words (rowid, words) VALUES (?, ?)", (number, words))
        await connection.execute("INSERT INTO summary_states (user, revision) VALUES (?, ?)", (USER, len(vectors)))
    return len(vectors), np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(len(vectors), -1)


def _entries(
    size: int, texts: list[tuple[str, str]], meanings: list[list[float]], chance: random.Random
) -> Iterator[SummaryEntry]:
    import numpy as np

    read = np.asarray(meanings, dtype=np.float32)
    for number in range(size):
        one, other = number % READ, chance.randrange(READ)
        values = read[one] if number < READ else read[one] + chance.uniform(0.2, 0.9) * read[other]
        yield SummaryEntry(
            user=USER,
            conversation_id=f"{number:016x}",
            title=texts[one][0],
            overview=texts[one][1] if number < READ else f"{texts[one][1]} {texts[other][1]} Note {number}.",
            created_at=datetime(2030, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
            vector=Vector(tuple((values / np.linalg.norm(values)).tolist()), MiniLmEmbedder.name),
        )


def _text(chance: random.Random, number: int) -> tuple[str, str]:
    subject, action, place, thing = (
        chance.choice(words.split("|")) for words in (_SUBJECTS, _ACTIONS, _PLACES, _THINGS)
    )
    other, second = chance.choice(_THINGS.split("|")), chance.choice(_SUBJECTS.split("|"))
    title = f"To {action} the {subject} in {place}"
    return title, (
        f"The user wanted to {action} the {subject} in {place} and asked which {thing} is needed. They chose the {other}"
        f" of number {number} and will see about the {second} next week."
    )


def _question(chance: random.Random, texts: list[tuple[str, str]]) -> str:
    if chance.random() < 0.5:
        return f"what about the {chance.choice(texts)[0].casefold()}"
    return f"is my {chance.choice(['glacier', 'oboe', 'quark', 'senate', 'yeast'])} {chance.choice(_ACTIONS.split('|'))} allowed"


def _same(matrix: "np.ndarray[Any, Any]", asked: Vector, found: list[Match]) -> float:
    import numpy as np

    exact = np.argsort(matrix @ np.asarray(asked.values, dtype=np.float32))[-5:]
    # Of equally near ones, any will do.
    least = float(matrix[exact[0]] @ np.asarray(asked.values, dtype=np.float32))
    return sum(match.score >= least - 1e-5 for match in found[:5]) / 5


async def _ms(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


def _late(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    print(report())
