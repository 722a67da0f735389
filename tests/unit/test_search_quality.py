"""What the floor of the search keeps out, and what it lets through, with the real embedder on written questions.

The thresholds were set on these very questions: the numbers say that nothing broke, not how well strangers' questions do.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from tertulia.adapters.embedded.minilm import MiniLmEmbedder
from tertulia.adapters.embedded.sqlite import Database
from tertulia.adapters.embedded.sqlite_summaries import SqliteSummaries
from tertulia.domain.summaries import SummaryEntry, Vector, text_to_index
from tertulia.usecases.search import Search
from tests.fakes.kept_turns import ME, NOON
from tests.model_files import model_library

WRITTEN = json.loads((Path(__file__).parents[1] / "recordings" / "search_questions.json").read_text("utf-8"))


@pytest.mark.models
async def test_most_questions_find_their_conversation_first_and_others_nothing(tmp_path: Path) -> None:
    embedder = MiniLmEmbedder(model_library("minilm").path("minilm"))
    database = Database(tmp_path / "tertulia.db")
    index = SqliteSummaries(database)
    texts = [text_to_index(**summary) for summary in WRITTEN["summaries"]]
    for place, values in enumerate(await embedder.embed(texts)):
        entry = SummaryEntry(
            user=ME,
            conversation_id=f"{place:x}",
            created_at=NOON,
            vector=Vector(tuple(values), embedder.name),
            **WRITTEN["summaries"][place],
        )
        await index.put(entry)
    search = Search(embedder=embedder, summaries=index)
    counts: Counter[tuple[bool, bool]] = Counter()
    for question in WRITTEN["questions"]:
        found = await search(ME, question["text"])
        first = found[0].title if found else None
        counts[question["about"] is not None, first == question["about"]] += 1
    await database.close()
    assert counts[True, True] / (counts[True, True] + counts[True, False]) >= 0.85
    assert counts[False, True] / (counts[False, True] + counts[False, False]) >= 0.9
