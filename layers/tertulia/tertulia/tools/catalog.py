"""The tools the agent may use: one catalog for every surface."""

from collections.abc import Sequence

from tertulia.domain.prompts import ToolSpec
from tertulia.ports import Clock, Tool
from tertulia.tools.calculator import Calculator
from tertulia.tools.current_time import CurrentTime


def built_in_tools(clock: Clock) -> tuple[Tool, ...]:
    """Return the tools that need no key and no network."""
    return (Calculator(), CurrentTime(clock))


def find_tool(tools: Sequence[Tool], name: str) -> Tool | None:
    """Return the tool of that name, or None."""
    return next((tool for tool in tools if tool.spec.name == name), None)


def tool_specs(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """Return what a model is told: the tools that could run now."""
    return tuple(tool.spec for tool in tools if tool.is_configured)
