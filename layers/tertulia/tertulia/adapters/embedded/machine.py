"""What this machine has, and how its memory is shared."""

import ctypes
import os

M_ARENA_MAX = -8
"""The number of the setting in glibc's malloc.h."""
HEAPS = 2


def free_memory() -> int:
    """Return the bytes of memory that programs may still take, as Linux reports them; elsewhere, all there is."""
    try:
        with open("/proc/meminfo", encoding="ascii") as report:  # noqa: PTH123  # a kernel file, not a path of ours
            fields = dict(line.split(":", 1) for line in report)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def share_heaps() -> None:
    """Have all threads share two heaps, where the C library is glibc: it gives each its own, 100 MB more for our models."""
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(M_ARENA_MAX, HEAPS)
