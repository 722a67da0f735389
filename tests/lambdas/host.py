"""A Lambda service on this machine: real runtime clients in processes of their own, pooled, frozen between calls."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, STDOUT, Process
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.lambdas.orphans import not_outliving
from tests.lambdas.runtime_api import MOST_PAYLOAD_BYTES, Invocation, RuntimeApi, failure

ACCOUNT = "123456789012"
REGION = "eu-central-1"


class PayloadTooLarge(Exception):
    """The event is longer than Lambda takes; the function is not called."""


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function as it is deployed."""

    name: str
    task_root: Path
    command: tuple[str, ...]
    """What starts the runtime, for its wrapper or by itself."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """All that its process gets besides what Lambda itself sets: nothing of this machine's."""
    handler: str = "handler.handler"
    seconds: float = 30.0
    memory: int = 1024

    @property
    def arn(self) -> str:
        """Its address."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.name}"


def lambda_environment(function: Function) -> dict[str, str]:
    """Return all variables of a function's process."""
    return {
        "PATH": os.defpath,
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "2026/11/30/[1]0123456789abcdef",
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "LAMBDA_TASK_ROOT": str(function.task_root),
        "_HANDLER": function.handler,
        **function.environment,
    }


class Worker:
    """One execution environment: a process, and the Runtime API it talks to."""

    def __init__(self, function: Function, log: list[str]) -> None:
        self._function = function
        self._log = log
        self._api = RuntimeApi()
        self._process: Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._calls: list[Invocation] = []

    @property
    def is_alive(self) -> bool:
        """Whether it can take another call."""
        return self._process is not None and self._process.returncode is None

    @property
    def was_restored(self) -> bool:
        """Whether it asked to be told when it is restored from a snapshot."""
        return self._api.restored

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start the process."""
        self._server = await self._api.open()
        wrapper = self._function.environment.get("AWS_LAMBDA_EXEC_WRAPPER")
        command = (*not_outliving(), *([wrapper] if wrapper else []), *self._function.command)
        self._process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self._function.task_root,
            env=lambda_environment(self._function) | {"AWS_LAMBDA_RUNTIME_API": self._api.address},
            stdout=PIPE,
            stderr=STDOUT,
        )
        self._tasks = [
            asyncio.create_task(self._listen(self._process)),
            asyncio.create_task(self._watch(self._process)),
        ]

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self._log.append(line.decode(errors="replace").rstrip("\n"))

    async def _watch(self, process: Process) -> None:
        status = await process.wait()
        self._server.close()
        told = self._api.init_failure or failure(
            "Runtime.ExitError", f"Runtime exited with error: exit status {status}"
        )
        for invocation in self._calls:
            invocation.end(told)
        self._api.asked.set()

    async def run(self, invocation: Invocation) -> None:
        """Have the process answer; it is frozen when it asks for the next call, and ended when it takes too long."""
        self._calls.append(invocation)
        self._signal(signal.SIGCONT)
        self._api.waiting.put_nowait(invocation)
        try:
            # Starting has a time of its own.
            await invocation.is_taken.wait()
            async with asyncio.timeout(invocation.seconds):
                await invocation.is_over.wait()
                await self._api.asked.wait()
        except TimeoutError:
            invocation.end(failure("Sandbox.Timedout", f"Task timed out after {invocation.seconds:.2f} seconds"))
            await self.close()
        else:
            self._signal(signal.SIGSTOP)

    async def close(self) -> None:
        """End the process."""
        self._signal(signal.SIGKILL)
        await asyncio.gather(*self._tasks)

    def _signal(self, number: int) -> None:
        if self._process and self.is_alive:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)


class Host:
    """The service: calls functions by name, each call in an environment that no other call uses meanwhile."""

    def __init__(self, *functions: Function) -> None:
        self.functions = {function.name: function for function in functions}
        self.logs: defaultdict[str, list[str]] = defaultdict(list)
        """What the functions wrote, by name."""
        self.workers: defaultdict[str, list[Worker]] = defaultdict(list)
        """All environments that were ever started."""
        self._idle: defaultdict[str, list[Worker]] = defaultdict(list)
        self._running: set[asyncio.Task[None]] = set()

    async def invoke(self, name: str, event: bytes, seconds: float | None = None) -> bytes:
        """Call a function and wait for its answer; raises FunctionFailed."""
        return b"".join([part async for part in self.stream(name, event, seconds)])

    async def stream(self, name: str, event: bytes, seconds: float | None = None) -> AsyncIterator[bytes]:
        """Call a function and yield its answer as it comes; a caller that goes away does not stop it.

        Its own time may be cut short, so that a warm environment can be seen to run out of it.
        """
        if len(event) > MOST_PAYLOAD_BYTES:
            raise PayloadTooLarge
        function = self.functions[name]
        invocation = Invocation(event, function.arn, seconds or function.seconds)
        running = asyncio.create_task(self._run(function, invocation))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        try:
            async for part in invocation.parts():
                yield part
        finally:
            # What follows the answer is part of the call, until its environment is frozen.
            await asyncio.wait({running})

    async def close(self) -> None:
        """End all environments."""
        await asyncio.gather(*(worker.close() for workers in self.workers.values() for worker in workers))
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, function: Function, invocation: Invocation) -> None:
        idle = self._idle[function.name]
        try:
            worker = idle.pop() if idle else await self._started(function)
        except OSError as error:
            return invocation.end(failure("Runtime.InvalidEntrypoint", str(error)))
        await worker.run(invocation)
        if worker.is_alive:
            self._idle[function.name].append(worker)
        return None

    async def _started(self, function: Function) -> Worker:
        worker = Worker(function, self.logs[function.name])
        self.workers[function.name].append(worker)
        await worker.start()
        return worker
