"""Run every benchmark and write `benchmarks/report.md`."""

import argparse
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.progress import Progress

from benchmarks import offline_turn, vendor_turn

REPORT = Path(__file__).with_name("report.md")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="Measure the product side by side with what it is compared to.")
    parser.add_argument("--only", choices=["vendors", "offline"], help="one part, printed and not written")
    only = parser.parse_args().only
    parts = []
    with Progress(transient=True) as progress:
        if only != "offline":
            parts.append("## Vendors of fixed delays\n\n" + vendor_turn.INTRODUCTION + "\n\n" + vendor_turn.report())
        if only != "vendors":
            task = progress.add_task("offline turns", total=len(offline_turn.SETS) * offline_turn.RUNS)
            parts.append(
                "## Offline, everything on this machine\n\n"
                + offline_turn.INTRODUCTION
                + "\n\n"
                + offline_turn.report(lambda: progress.advance(task))
            )
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
