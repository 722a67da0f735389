"""Which of a written month's facts are remembered, and how much of what is remembered is none: by a real model.

`python -m benchmarks.memory_audit` reads the half that rules may be tuned on; `--sealed` the half that counts, and
writes `benchmarks/memory_audit.md`. The sealed half is known by its hash, committed before anything was tuned.
"""

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tertulia.assistant import Assistant
from tertulia.domain.errors import ProviderFailed
from tertulia.domain.memories import Memory
from tertulia.domain.turns import Turn, turn_number
from tertulia.settings import Settings

MONTH = Path(__file__).with_name("month")
REPORT = Path(__file__).with_suffix(".md")
USER = "user-1"
FIRST_DAY = datetime(2026, 9, 1, 9, tzinfo=UTC)
SHOWN_WORDS = 60


@dataclass(frozen=True)
class Told:
    """A turn of the month, and the words by which each fact in it is known."""

    day: int
    language: str
    text: str
    facts: tuple[str, ...]


@dataclass
class Count:
    """What came of some turns."""

    turns: int = 0
    facts: int = 0
    missed: list[str] = field(default_factory=list)
    kept: int = 0
    junk: list[str] = field(default_factory=list)

    def add(self, told: Told, kept: Iterable[Memory]) -> None:
        """Compare what is kept of a turn with what it tells."""
        contents = [memory.content for memory in kept]
        self.turns += 1
        self.facts += len(told.facts)
        self.kept += len(contents)
        self.missed += [fact for fact in told.facts if not any(fact in content for content in contents)]
        self.junk += [content for content in contents if not any(fact in content for fact in told.facts)]


def month(half: str) -> list[Told]:
    """Return one half of the month; the sealed one only as it was sealed."""
    data = (MONTH / f"{half}.json").read_bytes()
    seal = MONTH / f"{half}.sha256"
    if seal.exists() and hashlib.sha256(data).hexdigest() != seal.read_text("utf-8").split()[0]:
        raise SystemExit(f"{half}.json is not what was sealed")
    return [Told(day, language, text, tuple(facts)) for day, language, text, facts in json.loads(data)]


async def remembered(assistant: Assistant, told: Told, place: int) -> list[Memory]:
    """Have the assistant learn from a turn as it does after a conversation; return what it kept of it."""
    at = FIRST_DAY + timedelta(days=told.day, minutes=place)
    turn = Turn(
        id=f"turn-{place}",
        number=turn_number(at, 0),
        text=told.text,
        answer="All right.",
        language=told.language,
        created_at=at,
        answered_at=at,
    )
    conversation = await assistant.conversations.open(USER, None)
    await assistant.conversations.append(conversation, turn)
    for _ in range(2):
        try:
            await assistant.remember(USER, turn.id)
            break
        except ProviderFailed:
            continue
    return [memory for memory in await assistant.memories.list(USER, 1_000) if memory.source_id == turn.id]


async def audit(half: str, folder: Path) -> tuple[str, dict[str, Count], float]:
    """Go through half a month; return the model's name, the counts by language, and the seconds a turn took."""
    assistant = Assistant(Settings(data_dir=folder))
    counts: dict[str, Count] = {}
    started = time.monotonic()
    told = month(half)
    for place, each in enumerate(told):
        kept = await remembered(assistant, each, place)
        counts.setdefault(each.language, Count()).add(each, kept)
        sys.stderr.write(f"{place + 1}/{len(told)}\r")
    name = assistant.chat_model.name
    await assistant.close()
    return name, counts, (time.monotonic() - started) / len(told)


def report(half: str, name: str, counts: dict[str, Count], seconds: float) -> str:
    """Write the counts down."""
    rows = [_row(language, count) for language, count in sorted(counts.items())]
    return "\n".join(
        [
            "# Audit of memories",
            "",
            f"Written by `python -m benchmarks.memory_audit{' --sealed' if half == 'sealed' else ''}`,"
            f" {datetime.now(UTC):%Y-%m-%d}: the {half} half of a written month of conversations,",
            f"learned from by {name}, {seconds:.1f} s a turn. A fact is missed when no memory of its turn holds the words"
            " by which it is known; a memory is junk",
            "when it holds no fact's.",
            "",
            "| language | turns | facts | missed | memories | junk |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            _row("all", _together(counts.values())),
            "",
            *(f"- missed: {fact}" for count in counts.values() for fact in count.missed),
            *(f"- junk: {content[:SHOWN_WORDS]}" for count in counts.values() for content in count.junk),
            "",
        ]
    )


def _row(name: str, count: Count) -> str:
    missed, junk = len(count.missed), len(count.junk)
    return (
        f"| {name} | {count.turns} | {count.facts} | {missed} ({missed / max(count.facts, 1):.0%}) "
        f"| {count.kept} | {junk} ({junk / max(count.kept, 1):.0%}) |"
    )


def _together(counts: Iterable[Count]) -> Count:
    whole = Count()
    for count in counts:
        whole.turns += count.turns
        whole.facts += count.facts
        whole.kept += count.kept
        whole.missed += count.missed
        whole.junk += count.junk
    return whole


def main() -> None:
    """Audit one half."""
    parser = argparse.ArgumentParser(description="Audit what is remembered of a written month of conversations.")
    parser.add_argument("--sealed", action="store_true", help="the half that counts; writes the report")
    half = "sealed" if parser.parse_args().sealed else "open"
    with tempfile.TemporaryDirectory() as folder:
        name, counts, seconds = asyncio.run(audit(half, Path(folder)))
    text = report(half, name, counts, seconds)
    sys.stdout.write(text)
    if half == "sealed":
        REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
