"""The tools of one user, put together anew only when the set changes."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tertulia.domain.prompts import ToolSpec
from tertulia.domain.scenarios import allows
from tertulia.ports import Tool
from tertulia.ports.tools import ToolProvider

MOST_USERS = 256


@dataclass(frozen=True)
class Toolbox:
    """A set of tools, with what a model is told of them."""

    tools: tuple[Tool, ...] = ()

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told."""
        return tuple(tool.spec for tool in self.tools)

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        # Of two tools of a name the first counts: what others bring cannot stand in for one of ours.
        return {tool.spec.name: tool for tool in reversed(self.tools)}

    def allowed(self, scenario: str | None) -> "Toolbox":
        """Return the tools that a scenario allows."""
        kept = tuple(tool for tool in self.tools if allows(scenario, tool.spec.name))
        return self if len(kept) == len(self.tools) else Toolbox(kept)

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name, or None."""
        return self._by_name.get(name)

    def taints(self, name: str) -> bool:
        """Whether what a tool returned may hold words of others; a tool that is not known any more may have."""
        tool = self.find(name)
        return tool is None or tool.spec.taints


@dataclass(frozen=True)
class Toolboxes:
    """Everyone's tools, and what providers bring for each user."""

    own: Sequence[Tool]
    providers: Sequence[ToolProvider] = ()
    _boxes: OrderedDict[str, Toolbox] = field(default_factory=OrderedDict)

    @cached_property
    def ours(self) -> Toolbox:
        """The tools that all users have."""
        return Toolbox(tuple(self.own))

    async def of(self, user: str) -> Toolbox:
        """Return a user's tools: the same object as long as they are the same tools."""
        if not self.providers:
            return self.ours
        brought = await asyncio.gather(*(provider.tools(user) for provider in self.providers))
        names = {spec.name for spec in self.ours.specs}
        tools = [*self.ours.tools]
        for tool in (tool for some in brought for tool in some if tool.spec.name not in names):
            names.add(tool.spec.name)
            tools.append(tool)
        return self._kept(user, tuple(tools))

    def _kept(self, user: str, tools: tuple[Tool, ...]) -> Toolbox:
        known = self._boxes.pop(user, None)
        is_same = known is not None and [*map(id, known.tools)] == [*map(id, tools)]
        self._boxes[user] = box = known if known is not None and is_same else Toolbox(tools)
        while len(self._boxes) > MOST_USERS:
            self._boxes.popitem(last=False)
        return box
