"""How the local models use the cores."""

import os

MOST_THREADS = 4


def thread_count() -> int:
    """Return how many threads a model runs on: the cores this process may use, four at most."""
    return min(os.process_cpu_count() or 1, MOST_THREADS)


def prepare_threads() -> None:
    """Let waiting OpenMP threads give way soon; to be called before a library that uses OpenMP is imported."""
    # By default they spin, and beside any other busy process the language model falls from 40 tokens a second to one.
    # OpenMP reads nothing but the environment, and once only, when its library is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")  # noqa: TID251
