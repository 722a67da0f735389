"""The tools of a user are put together anew only when the set changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from tertulia.answering.toolbox import Toolboxes
from tertulia.domain.effects import Effect
from tertulia.domain.prompts import ToolResult, ToolSpec
from tertulia.ports import Tool, ToolContext


class Named:
    """A tool with a name."""

    is_configured = True

    def __init__(self, name: str, *, taints: bool = True) -> None:
        self.spec = ToolSpec(name=name, description="", parameters={}, effect=Effect.NONE, taints=taints)

    async def __call__(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(text=self.spec.name)


class Provider:
    """Brings what a test puts in."""

    def __init__(self, tools: dict[str, list[Tool]]) -> None:
        self.brought = tools

    async def tools(self, user: str) -> Sequence[Tool]:
        return list(self.brought.get(user, []))


async def test_the_same_tools_are_the_same_box() -> None:
    provider = Provider({"ana": [Named("mail")]})
    boxes = Toolboxes([Named("clock")], [provider])
    first = await boxes.of("ana")
    assert await boxes.of("ana") is first
    assert (await boxes.of("ana")).specs is first.specs
    provider.brought["ana"].append(Named("chat"))
    second = await boxes.of("ana")
    assert [spec.name for spec in second.specs] == ["clock", "mail", "chat"]
    assert await boxes.of("ana") is second


async def test_each_user_has_their_own_tools() -> None:
    boxes = Toolboxes([Named("clock")], [Provider({"ana": [Named("mail")]})])
    assert [tool.spec.name for tool in (await boxes.of("ben")).tools] == ["clock"]
    assert (await boxes.of("ben")).find("mail") is None


async def test_what_others_bring_cannot_stand_in_for_one_of_ours() -> None:
    ours, theirs = Named("clock", taints=False), Named("clock")
    box = await Toolboxes([ours], [Provider({"ana": [theirs]})]).of("ana")
    assert box.find("clock") is ours
    assert len(box.tools) == 1
    assert not box.taints("clock")


async def test_a_tool_that_is_not_known_any_more_taints() -> None:
    assert (await Toolboxes([Named("clock", taints=False)]).of("ana")).taints("gone")
