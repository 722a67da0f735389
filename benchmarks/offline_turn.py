"""A spoken turn with everything on this machine: the server is started as a user starts it, and asked from outside."""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx
from httpx_sse import connect_sse

RUNS = 10
STARTS = 3
INTRODUCTION = """The server is started as a user starts it, and asked over HTTP: a spoken question of about four seconds as the third turn of a
conversation. From the last byte of the recording sent to the first sentence of speech received."""
QUESTION = "Can you tell me why the sky looks blue at noon and red in the evening?"
"""About four seconds when it is spoken."""


@dataclass(frozen=True)
class Set:
    """Which local models answer, and the budgets they are held to."""

    name: str
    environment: dict[str, str]
    first_speech_seconds: float | None
    gigabytes: float | None


SETS = (
    Set(
        "Qwen 1.5B, Whisper base, Kokoro",
        {"TERTULIA_LOCAL_LLM": "1.5b", "TERTULIA_WHISPER": "base", "TERTULIA_LOCAL_VOICE": "kokoro"},
        2.8,
        2.8,
    ),
    Set(
        "Qwen 1.5B, Whisper base, Piper (the fast voice)",
        {"TERTULIA_LOCAL_LLM": "1.5b", "TERTULIA_WHISPER": "base", "TERTULIA_LOCAL_VOICE": "piper"},
        1.8,
        2.8,
    ),
    Set(
        "Qwen 0.5B, Whisper tiny.en, Kokoro (the small set)",
        {"TERTULIA_LOCAL_LLM": "0.5b", "TERTULIA_WHISPER": "tiny.en", "TERTULIA_LOCAL_VOICE": "kokoro"},
        None,
        1.5,
    ),
)


@dataclass(frozen=True)
class Measured:
    """What one set of models took."""

    ready: float
    first_speech: list[float]
    stages: dict[str, int]
    peak_gigabytes: float
    question_seconds: float


@contextmanager
def server(environment: dict[str, str], folder: Path) -> Iterator[tuple[str, float, int]]:
    """Run the product's server; yield its address, the seconds until it was ready, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {"TERTULIA_PORT": str(port), "TERTULIA_DATA_DIR": str(folder), "GROQ_API_KEY": ""}
    started = time.perf_counter()
    command = [str(Path(sys.executable).with_name("tertulia")), "serve"]
    with subprocess.Popen(  # noqa: S603  # our own program
        command, env=os.environ | own | environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        failure = folder / "last-failure.txt"
        assert "answers at" in line, failure.read_text() if failure.exists() else line
        yield f"http://127.0.0.1:{port}", time.perf_counter() - started, process.pid
        process.terminate()


def measured(models: Set, step: Callable[[], None]) -> Measured:
    """Take ten third turns of a conversation with a four-second question."""
    starts = [_seconds_to_start(models) for _ in range(STARTS)]
    with (
        tempfile.TemporaryDirectory() as folder,
        server(models.environment, Path(folder)) as (address, _, process),
        httpx.Client(base_url=address, timeout=180) as client,
    ):
        question = client.post("/api/tts", json={"text": QUESTION}).content
        seconds = (len(question) - 44) / 2 / 24_000 if models.environment["TERTULIA_LOCAL_VOICE"] == "kokoro" else 0.0
        times, stages = [], {}
        for _ in range(RUNS):
            times_and_stages = _third_turn(client, question)
            times.append(times_and_stages[0])
            stages = times_and_stages[1]
            step()
        peak = _peak_gigabytes(process)
    return Measured(statistics.median(starts), times, stages, peak, seconds)


def _seconds_to_start(models: Set) -> float:
    with tempfile.TemporaryDirectory() as folder, server(models.environment, Path(folder)) as (_, ready, _):
        return ready


def _third_turn(client: httpx.Client, question: bytes) -> tuple[float, dict[str, int]]:
    conversation = ""
    for text in ("Hello, my name is Lena.", "I like the sea."):
        conversation = client.post("/api/chat", json={"text": text, "conversation_id": conversation}).json()[
            "conversation_id"
        ]
    started, first_speech = time.perf_counter(), 0.0
    with connect_sse(
        client,
        "POST",
        "/api/voice",
        files={"audio": question},
        data={"conversation_id": conversation},
        headers={"Accept": "text/event-stream"},
    ) as events:
        for event in events.iter_sse():
            if event.event == "speech" and not first_speech:
                first_speech = time.perf_counter() - started
            if event.event == "done":
                return first_speech, event.json()["receipt"]["stages"]
    raise AssertionError("the turn did not end")


def _peak_gigabytes(process: int) -> float:
    """Add up the peaks of the server and of the process that runs its language model."""
    threads = Path(f"/proc/{process}/task").iterdir()
    children = [child for thread in threads for child in (thread / "children").read_text().split()]
    return sum(_peak(each) for each in (str(process), *children))


def _peak(process: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e6


def report(step: Callable[[], None] = lambda: None) -> str:
    """Measure every set and return the table."""
    rows = []
    for models in SETS:
        if models.environment["TERTULIA_LOCAL_VOICE"] == "piper" and find_spec("piper") is None:
            rows.append(f"| {models.name} | not measured: the voice is not installed, see `make fast-voice` | | | | |")
            continue
        got = measured(models, step)
        budget = f" (budget {models.first_speech_seconds} s)" if models.first_speech_seconds else ""
        memory = f" (budget {models.gigabytes} GB)" if models.gigabytes else ""
        last = ", ".join(f"{stage} {ms}" for stage, ms in got.stages.items())
        rows.append(
            f"| {models.name} | {got.ready:.1f} s | {statistics.median(got.first_speech):.2f} s{budget} "
            f"| {min(got.first_speech):.2f} to {max(got.first_speech):.2f} s | {got.peak_gigabytes:.2f} GB{memory} | {last} |"
        )
    return "\n".join(
        [
            "| models | server ready, median of 3 | end of speech to first speech, median of 10 | range | peak memory | stages of the last turn, ms |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
        ]
    )
