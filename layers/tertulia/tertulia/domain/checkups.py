"""What a check of an installation finds."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a matter stands."""

    FINE = "fine"
    NOTE = "note"
    """Worth knowing; nothing must be done."""
    PROBLEM = "problem"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One matter, how it stands, and what to do about it."""

    matter: str
    state: State
    what: str
    do: str = ""


def fine(matter: str, what: str) -> Finding:
    """All is well."""
    return Finding(matter=matter, state=State.FINE, what=what)


def note(matter: str, what: str) -> Finding:
    """Something to know."""
    return Finding(matter=matter, state=State.NOTE, what=what)


def problem(matter: str, what: str, do: str) -> Finding:
    """Something to do."""
    return Finding(matter=matter, state=State.PROBLEM, what=what, do=do)
