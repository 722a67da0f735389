"""How the local models use the cores."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST_THREADS = 4
MOST_SECONDS_TO_WAIT = 5.0
"""Longer than any sentence takes to say."""


def thread_count() -> int:
    """Return how many threads a model runs on: the cores this process may use, four at most."""
    return min(os.process_cpu_count() or 1, MOST_THREADS)


class Cores:
    """Lets a voice that somebody waits for go before a language model that writes ahead: together both are slow."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hurried = 0
        self._calm = threading.Event()
        self._calm.set()

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Have the others give way meanwhile."""
        with self._lock:
            self._hurried += 1
            self._calm.clear()
        try:
            yield
        finally:
            with self._lock:
                self._hurried -= 1
                if not self._hurried:
                    self._calm.set()

    @property
    def are_hurried(self) -> bool:
        """Whether somebody is hurried now."""
        return not self._calm.is_set()

    def give_way(self) -> None:
        """Wait in a thread of one's own until nobody is hurried."""
        self._calm.wait(MOST_SECONDS_TO_WAIT)
