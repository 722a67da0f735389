"""Run every benchmark and write `benchmarks/report.md`."""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.progress import Progress

from benchmarks import cold_start, memory_recall, offline_turn, search, vendor_turn

REPORT = Path(__file__).with_name("report.md")


@dataclass(frozen=True)
class Part:
    """A part of the report."""

    title: str
    introduction: str
    report: Callable[[Callable[[], None]], str]
    """Measures, tells whenever it goes on, and returns the tables."""
    steps: Callable[[], int] = lambda: 1


PARTS = {
    "vendors": Part("Vendors of fixed delays", vendor_turn.INTRODUCTION, lambda _: vendor_turn.report()),
    "memories": Part("Memories", memory_recall.INTRODUCTION, lambda _: memory_recall.report()),
    "search": Part("Search of past conversations", search.INTRODUCTION, lambda _: search.report()),
    "cloud": Part("Cloud", cold_start.INTRODUCTION, cold_start.report, cold_start.steps),
    "offline": Part(
        "Offline, everything on this machine",
        offline_turn.INTRODUCTION,
        offline_turn.report,
        lambda: len(offline_turn.SETS) * offline_turn.RUNS,
    ),
}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="Measure the product side by side with what it is compared to.")
    parser.add_argument("--only", choices=[*PARTS], help="one part, printed and not written")
    only = parser.parse_args().only
    parts = []
    with Progress(transient=True) as progress:
        for name, part in PARTS.items():
            if only in {None, name}:
                task = progress.add_task(name, total=part.steps())
                report = part.report(partial(progress.advance, task))
                parts.append(f"## {part.title}\n\n{part.introduction}\n\n{report}")
    text = "\n\n".join([_heading(), *parts]) + "\n"
    sys.stdout.write(text)
    if only is None:
        REPORT.write_text(text, encoding="utf-8")


def _heading() -> str:
    load = os.getloadavg()[0]
    return (
        "# Benchmarks\n\nWritten by `make bench`; one run each.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}, {os.process_cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}, load {load:.1f} when it began."
    )


if __name__ == "__main__":
    main()
