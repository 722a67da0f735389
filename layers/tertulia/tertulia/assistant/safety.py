"""What keeps side effects safe, put together."""

from typing import TYPE_CHECKING

from tertulia.answering.acting import Acting
from tertulia.answering.settling import Settling
from tertulia.answering.tool_runner import ToolRunner
from tertulia.answering.toolbox import Toolboxes
from tertulia.answering.undoing import Undoing
from tertulia.ports.safety import ConfirmationStore, Journal
from tertulia.ports.tools import ToolProvider

if TYPE_CHECKING:
    from tertulia.assistant import Assistant


def confirmations(parts: "Assistant") -> ConfirmationStore:
    """Return the steps that wait for a yes."""
    return parts.stores.confirmations


def journal(parts: "Assistant") -> Journal:
    """Return what tools changed."""
    return parts.stores.journal


def tool_providers(parts: "Assistant") -> tuple[ToolProvider, ...]:  # noqa: ARG001
    """Return who brings tools that differ from user to user."""
    return ()


def toolboxes(parts: "Assistant") -> Toolboxes:
    """Build what knows each user's tools."""
    return Toolboxes(parts.tools, parts.tool_providers)


def acting(parts: "Assistant") -> Acting:
    """Build what runs tools and writes down what they changed."""
    return Acting(
        journal=parts.journal,
        confirmations=parts.confirmations,
        clock=parts.clock,
        seconds=parts.settings.tool_seconds,
    )


def undoing(parts: "Assistant") -> Undoing:
    """Build the way back."""
    return Undoing(journal=parts.journal, acting=parts.acting, boxes=parts.toolboxes, clock=parts.clock)


def settling(parts: "Assistant") -> Settling:
    """Build what reads a yes, an undo or a direct call by rule."""
    return Settling(
        conversations=parts.conversations,
        confirmations=parts.confirmations,
        acting=parts.acting,
        undoing=parts.undoing,
    )


def tool_runner(parts: "Assistant") -> ToolRunner:
    """Build the agent's hands."""
    return ToolRunner(parts.toolboxes, parts.acting)
