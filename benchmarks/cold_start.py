"""The chat function as it is deployed: how soon a new process answers, what a warm call adds, and the memory it takes."""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from tests.architecture.source_tree import CHECKOUT
from tests.fakes.vendor import Answer, Called, FakeGroq
from tests.lambdas.artifacts import ARCHITECTURE, Artifacts
from tests.lambdas.cloud import LocalCloud, deployed
from tests.lambdas.emulator import emulated
from tests.lambdas.host import ACCOUNT, Function, lambda_environment

FUNCTION = "ChatFunction"
RUNS = 7
WARM_RUNS = 20
FIRST_TOKEN_SECONDS = 0.3
"""Of streamed answers: by then the route is long known, and what is measured is the way of the words alone."""
ROUTES = {"simple": "Hello", "agent": "Put milk on my to-do list."}
BUDGETS = {"simple": 750, "agent": 1150}
MEMORY_MB = 1024
MEMORY_SHARE = 0.7
ROUTER_TOKENS = 64
PROBE = Path(__file__).with_name("warm_probe.py")
NAIVE_HANDLER = """\
import boto3, groq, langchain_core.language_models, langgraph.graph, langgraph.prebuilt, onnxruntime, tokenizers
from tertulia.entrypoints.aws import http_handler
from tertulia.entrypoints.http.every_route import ROUTERS
handler = http_handler(*ROUTERS)
"""
INTRODUCTION = f"""The chat function from the built layers, in a process that finds nothing else; the template's table, bucket and keys in moto on
the same machine, and a vendor that answers at once. Cold: one `POST /api/chat` to Amazon's emulator, which starts the process
when it gets it, until the first byte of the answer; each figure is the median of {RUNS}, each of its own process and user, the builds taking
turns. The agent calls a tool and answers from its result. "Naive" is the same code and layers without bytecode, with every library
and every route imported at the top. The processor's time is that of the process until it has answered: other load moves it less than the clock.

Budgets: simple {BUDGETS["simple"]} ms, agent {BUDGETS["agent"]:,} ms; a warm buffered request adds 5 ms to the use case, which is run in the same process against the same
stores, in turns with it; the first streamed word leaves 15 ms after the model's; memory stays below {MEMORY_SHARE:.0%} of {MEMORY_MB:,} MB, after turns of every
kind, among them one with a file of 3 MB."""


@dataclass(frozen=True)
class Cold:
    """A first answer, in milliseconds."""

    clock: float
    processor: float


class Vendor:
    """Answers at once, and notes when it begins to, by the question."""

    def __init__(self) -> None:
        self.groq = FakeGroq(chat=self._said)
        self.seconds_to_first = 0.0
        self.first_tokens: dict[str, float] = {}

    def _said(self, body: Mapping[str, Any]) -> Answer:
        if body.get("max_completion_tokens") == ROUTER_TOKENS:
            return Answer(pieces=("simple",), seconds_to_first=0)
        if body.get("tools") and body["messages"][-1]["role"] != "tool":
            return Answer(pieces=(), calls=(Called(name="current_time"),))
        self.first_tokens[str(body["messages"][-1]["content"])] = time.perf_counter() + self.seconds_to_first
        return Answer(seconds_to_first=self.seconds_to_first)


def report(advance: Callable[[], object]) -> str:
    """Measure and return the tables."""
    load = os.getloadavg()[0]
    subprocess.run([CHECKOUT / "scripts/build", "all", ARCHITECTURE], check=True, capture_output=True)  # noqa: S603
    vendor = Vendor()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cloud = stack.enter_context(deployed(Artifacts(folder), vendor.groq, Architecture=ARCHITECTURE))
        ours = cloud.host.functions[FUNCTION] = _without_follow_up(cloud)
        cold = _cold_starts({"ours": ours, "naive": _naive(ours, folder / "naive")}, folder, advance)
        added, use_case = _warm(ours, folder)
        late = _streamed(cloud, vendor)
        memory = _memory(cloud)
    return "\n".join(
        [
            "| first answer | ours, ms | budget, ms | naive, ms | of the naive | processor: ours, ms | naive, ms | of the naive |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            *(_row(route, cold["ours", route], cold["naive", route]) for route in ROUTES),
            "",
            "| warm | measured | budget |",
            "| --- | --- | --- |",
            f"| a buffered request, beside {use_case:.1f} ms of the use case | {added:.1f} ms | 5 ms |",
            f"| a streamed first word after the model's | {late:.1f} ms | 15 ms |",
            f"| memory at most | {memory:.0f} MB | {MEMORY_MB * MEMORY_SHARE:.0f} MB |",
            "",
            f"Load {load:.1f} when it began, {os.getloadavg()[0]:.1f} when it ended.",
        ]
    )


def steps() -> int:
    """Return how often `report` tells that it goes on."""
    return RUNS * 2 * len(ROUTES)


def _row(route: str, ours: list[Cold], naive: list[Cold]) -> str:
    def median(of: list[Cold], part: str) -> float:
        return float(statistics.median(getattr(each, part) for each in of))

    (own, theirs), (used, spent) = ((median(ours, part), median(naive, part)) for part in ("clock", "processor"))
    return (
        f"| {route} | {own:.0f} | {BUDGETS[route]} | {theirs:.0f} | {own / theirs:.2f} "
        f"| {used:.0f} | {spent:.0f} | {used / spent:.2f} |"
    )


def _without_follow_up(cloud: LocalCloud) -> Function:
    """Return the function with a workflow that does nothing: the steps of others would run beside what is measured."""
    nothing = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}
    made = cloud.client("stepfunctions").create_state_machine(
        name="Nothing", definition=json.dumps(nothing), roleArn=f"arn:aws:iam::{ACCOUNT}:role/states"
    )
    function = cloud.host.functions[FUNCTION]
    variables = {**function.environment, "TERTULIA_AFTER_TURN_ARN": made["stateMachineArn"]}
    return replace(function, environment=variables)


def _naive(ours: Function, folder: Path) -> Function:
    """Make the naive build of the same layers."""
    paths = [Path(place) for place in ours.environment["PYTHONPATH"].split(":")]
    task, opt = folder / "function", folder / "opt"
    shutil.copytree(paths[1].parent, opt, ignore=shutil.ignore_patterns("__pycache__"))
    task.mkdir()
    (task / "handler.py").write_text(NAIVE_HANDLER, encoding="utf-8")
    variables = {name: value.replace(str(paths[1].parent), str(opt)) for name, value in ours.environment.items()}
    variables |= {"PYTHONPATH": f"{task}:{opt}/python:{paths[2]}", "PYTHONDONTWRITEBYTECODE": "1"}
    return replace(ours, task_root=task, environment=variables)


def _cold_starts(
    builds: Mapping[str, Function], folder: Path, advance: Callable[[], object]
) -> dict[tuple[str, str], list[Cold]]:
    for function in builds.values():
        _cold(function, "Hello", folder)  # the files of both are read once
    found: dict[tuple[str, str], list[Cold]] = {(build, route): [] for build in builds for route in ROUTES}
    for _ in range(RUNS):
        for (build, route), answers in found.items():
            answers.append(_cold(builds[build], ROUTES[route], folder))
            advance()
    return found


def _cold(function: Function, text: str, folder: Path) -> Cold:
    with emulated(function, folder) as address:
        asked = json.dumps(_event("rest_chat", text))
        started = time.perf_counter()
        with httpx.stream("POST", address, content=asked, timeout=60) as response:
            parts = response.iter_raw()
            first = next(parts)
            clock = time.perf_counter() - started
            answer = json.loads(first + b"".join(parts))
        assert answer["statusCode"] == 200, answer
        return Cold(clock * 1000, _processor_seconds(_process_under(folder)) * 1000)


def _event(name: str, text: str) -> dict[str, Any]:
    """Return a recorded request, of a user who has done nothing yet."""
    event: dict[str, Any] = json.loads((CHECKOUT / f"tests/events/{name}.json").read_text("utf-8"))
    user = f"user-{uuid4()}"
    event["requestContext"]["authorizer"] |= {"principalId": user, "user": user}
    return event | {"body": json.dumps({"text": text})}


def _warm(function: Function, folder: Path) -> tuple[float, float]:
    """Return the median milliseconds that a request adds to the use case, and those of the use case."""
    environment = lambda_environment(function) | {"AWS_XRAY_SDK_ENABLED": "false"}
    done = subprocess.run(  # noqa: S603
        [function.command[0], PROBE, json.dumps(_event("rest_chat", "Hello"))],
        env=environment,
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    added, use_case = json.loads(done.stdout.splitlines()[-1])
    return added, use_case


def _streamed(cloud: LocalCloud, vendor: Vendor) -> float:
    """Return the median milliseconds from the model's first token to the first word that leaves."""
    vendor.seconds_to_first = FIRST_TOKEN_SECONDS
    late = []
    for place in range(WARM_RUNS + 1):
        text = f"Hello {place}"
        left = cloud.run(_first_word(cloud, _event("rest_chat_stream", text)))
        late.append(left - vendor.first_tokens[text])
    vendor.seconds_to_first = 0.0
    return statistics.median(late[1:]) * 1000


async def _first_word(cloud: LocalCloud, event: Mapping[str, Any]) -> float:
    first = 0.0
    async for part in cloud.host.stream(FUNCTION, json.dumps(event).encode()):
        if b"event: token" in part:
            first = first or time.perf_counter()
    assert first, "nothing was streamed"
    return first


def _memory(cloud: LocalCloud) -> float:
    """Return the most memory a process took, in MB, that has answered on every way."""
    client = httpx.Client(
        base_url=cloud.url, headers={"Authorization": f"Bearer {cloud.token_of('memory')}"}, timeout=60
    )
    with client:
        client.post("/api/memories", json={"content": "I like milk."})
        for text in (*ROUTES.values(), "What do I like?"):
            client.post("/api/chat", json={"text": text}).raise_for_status()
        file = {"file": ("notes.txt", b"Milk. " * 500_000, "text/plain")}
        client.post("/api/chat/send-with-file", files=file, data={"message": "Hello"}).raise_for_status()
    return max(_peak_mb(worker.pid) for worker in cloud.host.workers[FUNCTION] if worker.is_alive)


def _process_under(folder: Path) -> int:
    """Return the process that the emulator in a folder started."""
    parents = {int(place.parent.name): place.read_bytes() for place in Path("/proc").glob("[0-9]*/cmdline")}
    for emulator in (
        pid for pid, command in parents.items() if command.startswith(f"{folder}/aws-lambda-rie".encode())
    ):
        for children in Path(f"/proc/{emulator}/task").glob("*/children"):
            if found := children.read_text().split():
                return int(found[0])
    raise LookupError("the emulator runs nothing")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(pid: int) -> float:
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
