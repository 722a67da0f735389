"""A llama.cpp server in a process of its own: loads one model, and completes one chat at a time.

In this process the library would hold the interpreter while it loads, for seconds, and a crash of it would be ours.
"""

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from tertulia.adapters.embedded import llama_process
from tertulia.adapters.embedded.cores import Cores, thread_count
from tertulia.adapters.embedded.llama_writing import OnChunk, Writing
from tertulia.domain.errors import ModelDown, NotConfigured
from tertulia.domain.prompts import Json

if TYPE_CHECKING:
    import httpx

CONTEXT = 4096
SECONDS_TO_END = 3.0


class Engine(Protocol):
    """What runs a language model; every call blocks its thread, but for `begin`."""

    @property
    def context(self) -> int:
        """How many tokens a prompt and its answer may have together."""
        ...

    def begin(self) -> None:
        """Have the model loaded beside what else there is to do; raises NotConfigured."""
        ...

    def load(self) -> None:
        """Load the model, once; raises NotConfigured."""
        ...

    def complete(self, body: Mapping[str, Json], on_chunk: OnChunk) -> None:
        """Complete a chat, in the words of the OpenAI API, chunk by chunk; raises ModelDown."""
        ...

    def close(self) -> None:
        """Free the model's memory."""
        ...


class LlamaEngine:
    """Runs a GGUF file with xllamacpp; the file is looked for, and checked, when it is loaded."""

    def __init__(self, find: Callable[[], Path], context: int = CONTEXT, cores: Cores | None = None) -> None:
        self.context = context
        self._cores = cores or Cores()
        self._find = find
        self._running: _Running | None = None
        self._starting = threading.Lock()

    @property
    def process_id(self) -> int | None:
        """The process that runs the model, once it is started."""
        return self._running.process.pid if self._running else None

    def begin(self) -> None:
        """Have the model loaded beside what else there is to do; raises NotConfigured."""
        with self._starting:
            if self._running and not self._running.is_alive:
                self.close()
            if self._running is None:
                self._running = _Running.started(self._find(), self.context)

    def load(self) -> None:
        """Load the model, once; raises NotConfigured."""
        self.begin()
        if self._running and not self._running.is_loaded():
            self.close()
            raise NotConfigured(
                "The local language model could not be loaded: its file is damaged, or memory is short. "
                "Run `tertulia models fetch` to check the file."
            )

    def complete(self, body: Mapping[str, Json], on_chunk: OnChunk) -> None:
        """Complete a chat, in the words of the OpenAI API, chunk by chunk; raises ModelDown."""
        self.load()
        writing = Writing(body, on_chunk, self._cores)
        while writing.goes_on and self._running:
            self._cores.give_way()
            self._running.complete(writing.next_body(), writing.on_chunk)

    def close(self) -> None:
        """Free the model's memory."""
        running, self._running = self._running, None
        if running:
            running.end()


@dataclass
class _Running:
    """One process with its model."""

    process: subprocess.Popen[str]
    client: "httpx.Client"
    folder: TemporaryDirectory[str]
    said: str = ""

    @classmethod
    def started(cls, model: Path, context: int) -> "_Running":
        import httpx

        folder = TemporaryDirectory(prefix="tertulia-")
        # Nobody else is meant to find the server: a socket in a private folder, a random key.
        wishes = llama_process.Wishes(
            model=str(model),
            socket=str(Path(folder.name) / "llama.sock"),
            key=secrets.token_urlsafe(32),
            context=context,
            threads=thread_count(),
        )
        process = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-m", llama_process.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # An interrupt from the terminal is for its owner, which ends it in good order.
            start_new_session=True,
        )
        running = cls(
            process,
            httpx.Client(
                transport=httpx.HTTPTransport(uds=wishes.socket),
                base_url="http://llama",
                headers={"Authorization": f"Bearer {wishes.key}"},
                # The caller keeps the time, and leaves.
                timeout=None,  # noqa: S113
            ),
            folder,
        )
        running._tell(json.dumps(asdict(wishes)) + "\n")
        return running

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def is_loaded(self) -> bool:
        """Wait until the model is loaded, or its process has failed."""
        if not self.said and self.process.stdout:
            self.said = self.process.stdout.readline().strip()
        return self.said == llama_process.READY

    def complete(self, body: Mapping[str, Json], on_chunk: OnChunk) -> None:
        import httpx
        from httpx_sse import EventSource

        try:
            with self.client.stream("POST", "/v1/chat/completions", json=body) as response:
                if response.is_error:
                    on_chunk(json.loads(response.read()))
                    return
                for event in EventSource(response).iter_sse():
                    # Leaving the response closes its connection, which stops the model.
                    if event.data == "[DONE]" or on_chunk(event.json()):
                        return
        except (httpx.HTTPError, ValueError) as error:
            raise ModelDown(
                "The local language model has stopped. It is started again by the next question."
            ) from error

    def end(self) -> None:
        """End the process, whatever it does."""
        self.client.close()
        if self.process.stdin:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        try:
            self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self.folder.cleanup()

    def _tell(self, line: str) -> None:
        with suppress(BrokenPipeError):
            if self.process.stdin:
                self.process.stdin.write(line)
                self.process.stdin.flush()
