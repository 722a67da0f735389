"""The process that runs llama.cpp: loads one model, serves it on a socket, and ends when its owner does.

It is started as `python -m tertulia.adapters.embedded.llama_process` with one line of JSON on its standard input, the
fields of `Wishes`. It prints READY or DAMAGED, and serves until that input ends.
"""

import json
import os
import sys
from dataclasses import dataclass
from typing import Any

from tertulia.adapters.embedded.machine import share_heaps

READY = "ready"
DAMAGED = "damaged"

PROMPT_BATCH = 64
"""Tokens read before a stop is noticed: under a second, and no slower than larger batches on a few cores."""
KEPT_PREFIXES_MIB = 40
NOT_MAPPED = 0
"""llama.cpp's LLAMA_LOAD_MODE_NONE."""
REUSED_RUN = 64
"""A run of this many known tokens is kept when the exchange before it falls out of the prompt."""


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the owner wishes to have served."""

    model: str
    """The path of a GGUF file."""
    socket: str
    """The path of the socket; the library takes what ends in `.sock` for one."""
    key: str
    context: int
    threads: int


def main() -> None:
    """Load the model, say how that went, and serve until the owner has gone."""
    wishes = Wishes(**json.loads(sys.stdin.readline()))
    share_heaps()
    import xllamacpp  # type: ignore[import-untyped]

    try:
        server = xllamacpp.Server(_parameters(xllamacpp.CommonParams(), wishes))
    except RuntimeError:
        _say(DAMAGED)
        return
    _say(READY)
    sys.stdin.read()
    # Nothing is kept in here, and the library's own goodbye waits for the running call.
    del server
    os._exit(0)


def _parameters(parameters: Any, wishes: Wishes) -> Any:
    parameters.model.path = wishes.model
    # Mapped, the file's pages would stay beside the repacked weights: 590 MB more for the larger model.
    parameters.load_mode = NOT_MAPPED
    # The library would else load the model twice, to see whether it fits; the choice of the model has judged that.
    parameters.fit_params = False
    parameters.n_ctx = wishes.context
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = PROMPT_BATCH
    parameters.n_cache_reuse = REUSED_RUN
    parameters.cache_ram_mib = KEPT_PREFIXES_MIB
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = wishes.threads
    parameters.verbosity = -1
    parameters.hostnames = [wishes.socket]
    parameters.api_keys = [wishes.key]
    return parameters


def _say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
