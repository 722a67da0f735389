"""A llama.cpp server inside the process: loads one model, and completes one chat at a time."""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from tertulia.adapters.embedded.cores import Cores, thread_count
from tertulia.adapters.embedded.llama_writing import OnChunk, Writing
from tertulia.domain.errors import NotConfigured
from tertulia.domain.prompts import Json

CONTEXT = 4096
PROMPT_BATCH = 64
"""Tokens read before a stop is noticed: under a second, and no slower than larger batches on a few cores."""
KEPT_PREFIXES_MIB = 40
NOT_MAPPED = 0
"""llama.cpp's LLAMA_LOAD_MODE_NONE."""
REUSED_RUN = 64
"""A run of this many known tokens is kept when the exchange before it falls out of the prompt."""


class Engine(Protocol):
    """What runs a language model; every call blocks its thread."""

    @property
    def context(self) -> int:
        """How many tokens a prompt and its answer may have together."""
        ...

    def import_code(self) -> None:
        """Import the library."""
        ...

    def load(self) -> None:
        """Load the model, once; raises NotConfigured."""
        ...

    def complete(self, body: Mapping[str, Json], on_chunk: OnChunk) -> None:
        """Complete a chat, in the words of the OpenAI API, chunk by chunk."""
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
        self._server: Any = None
        self._folder: TemporaryDirectory[str] | None = None

    def import_code(self) -> None:
        """Import the library."""
        import xllamacpp  # type: ignore[import-untyped]  # noqa: F401

    def load(self) -> None:
        """Load the model, once; raises NotConfigured."""
        if self._server is not None:
            return
        path = self._find()
        import xllamacpp

        folder = TemporaryDirectory(prefix="tertulia-")
        try:
            self._server = xllamacpp.Server(self._parameters(xllamacpp.CommonParams(), path, Path(folder.name)))
        except RuntimeError as error:
            folder.cleanup()
            raise NotConfigured(
                "The local language model could not be loaded: its file is damaged, or memory is short. "
                "Run `tertulia models fetch` to check the file."
            ) from error
        self._folder = folder

    def _parameters(self, parameters: Any, path: Path, folder: Path) -> Any:
        parameters.model.path = str(path)
        # Mapped, the file's pages would stay beside the repacked weights: 590 MB more for the larger model, no faster.
        parameters.load_mode = NOT_MAPPED
        parameters.n_ctx = self.context
        # The library would else load the model twice, to see whether it fits: `free_memory` has judged that.
        parameters.fit_params = False
        parameters.n_parallel = 1
        parameters.n_batch = parameters.n_ubatch = PROMPT_BATCH
        parameters.n_cache_reuse = REUSED_RUN
        parameters.cache_ram_mib = KEPT_PREFIXES_MIB
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = thread_count()
        parameters.verbosity = -1
        # The library always opens a server of its own. Nobody is meant to find it: a socket in a private folder, a random key.
        parameters.hostnames = [str(folder / "llama.sock")]
        parameters.api_keys = [secrets.token_urlsafe(32)]
        return parameters

    def complete(self, body: Mapping[str, Json], on_chunk: OnChunk) -> None:
        """Complete a chat, in the words of the OpenAI API, chunk by chunk."""
        self.load()
        writing = Writing(body, on_chunk, self._cores)
        while writing.goes_on:
            self._cores.give_way()
            self._server.handle_chat_completions(writing.next_body(), writing.on_chunk)

    def close(self) -> None:
        """Free the model's memory."""
        self._server = None
        if self._folder:
            self._folder.cleanup()
            self._folder = None
