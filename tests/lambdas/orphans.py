"""Processes that do not outlive the tests, however these end: a frozen one would stay for ever."""

import shutil


def not_outliving() -> tuple[str, ...]:
    """Return what goes before a command so that it ends with the thread that started it, where the system can do that."""
    found = shutil.which("setpriv")
    return (found, "--pdeathsig", "KILL") if found else ()
