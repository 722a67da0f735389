"""What a tool does to the world, and how it is taken back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Effect(StrEnum):
    """How far the work of a tool reaches."""

    NONE = "none"
    """It only looks or calculates."""
    REVERSIBLE = "reversible"
    """It changes something of the user's own, and the change can be taken back."""
    OUTWARD = "outward"
    """It reaches other people or their machines: what is sent or bought stays so."""
    DESTRUCTIVE = "destructive"
    """It deletes or overwrites."""

    @property
    def is_change(self) -> bool:
        """Whether anything is different afterwards."""
        return self is not Effect.NONE

    @property
    def needs_a_yes(self) -> bool:
        """Whether the user must agree to it each time."""
        return self in {Effect.OUTWARD, Effect.DESTRUCTIVE}


@dataclass(frozen=True, kw_only=True)
class UndoStep:
    """The call of a tool that takes a change back."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
