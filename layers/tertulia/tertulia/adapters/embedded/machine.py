"""What this machine has."""

import os


def free_memory() -> int:
    """Return the bytes of memory that programs may still take, as Linux reports them; elsewhere, all there is."""
    try:
        with open("/proc/meminfo", encoding="ascii") as report:  # noqa: PTH123  # a kernel file, not a path of ours
            fields = dict(line.split(":", 1) for line in report)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
