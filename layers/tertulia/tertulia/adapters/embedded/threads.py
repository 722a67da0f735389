"""How the local models use the cores."""

import os

MOST_THREADS = 4


def thread_count() -> int:
    """Return how many threads a model runs on: the cores this process may use, four at most."""
    return min(os.process_cpu_count() or 1, MOST_THREADS)
