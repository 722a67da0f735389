"""Tool calls from models that cannot make them: one answer in a fixed JSON form, learned from a few examples."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from pydantic import TypeAdapter

from tertulia.domain.prompts import Json, ToolCall, ToolSpec

NO_TOOL = "none"


@dataclass(frozen=True, kw_only=True)
class ToolExamples:
    """What sentences look like that want a tool."""

    hints: tuple[str, ...]
    """Patterns of which one at least is found in any text that could want it, in all our languages."""
    questions: Mapping[str, Mapping[str, Json]]
    is_common: bool = False
    """Whether it stands in every choice: what all choices begin with is read once and kept."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All hints in one."""
        return re.compile("|".join(self.hints))


@dataclass(frozen=True, kw_only=True)
class ChoiceExamples:
    """The examples of all tools known so far, and of questions for none."""

    tools: Mapping[str, ToolExamples]
    none: tuple[str, ...]
    none_besides: tuple[str, ...] = ()
    """Questions that only seem to want one of the less common tools."""


def shipped_examples() -> ChoiceExamples:
    """Read the examples that come with the package."""
    return TypeAdapter(ChoiceExamples).validate_json((files(__package__) / "tool_examples.json").read_bytes())


@dataclass(frozen=True)
class ToolChoice:
    """Asks for the one tool that a text wants, of those given."""

    tools: Sequence[ToolSpec]
    examples: ChoiceExamples

    def is_possible(self, text: str) -> bool:
        """Whether any tool could apply: a tool without hints always could."""
        words = text.casefold()
        return any(self._could_apply(tool, words) for tool in self.tools)

    def messages(self, text: str) -> list[dict[str, str]]:
        """Return the instruction, the examples as turns, and the text: first what is common to all texts."""
        common, besides = self._common, self._besides(text)
        lines = [_line(tool) for tool in common]
        instruction = "\n".join(
            [
                "You pick the tool of a voice assistant. Reply with one JSON object and nothing else.",
                *lines,
                f'{{"tool": "{NO_TOOL}"}}: for anything else.',
            ]
        )
        messages = [{"role": "system", "content": instruction}, *self._turns(common, self.examples.none)]
        if besides:
            more = "\n".join(["There are these tools, too:", *map(_line, besides)])
            messages += [{"role": "system", "content": more}, *self._turns(besides, self.examples.none_besides)]
        return [*messages, {"role": "user", "content": text}]

    def response_format(self, text: str) -> Json:
        """Return the form that the answer is held to."""
        tools = (*self._common, *self._besides(text))
        forms = [_form(tool.name, {"arguments": dict(tool.parameters)}) for tool in tools]
        schema = {"anyOf": [*forms, _form(NO_TOOL, {})]}
        return {"type": "json_schema", "json_schema": {"name": "tool", "schema": schema, "strict": True}}

    def call_in(self, answer: str) -> ToolCall | None:
        """Read the answer; anything but a known tool with an object of arguments is no call."""
        try:
            chosen = json.loads(answer)
        except ValueError:
            return None
        name, arguments = (chosen.get("tool"), chosen.get("arguments")) if isinstance(chosen, dict) else (None, None)
        if name not in [tool.name for tool in self.tools] or not isinstance(arguments, dict):
            return None
        return ToolCall(
            id=f"call_{secrets.token_hex(8)}", name=name, arguments=json.dumps(arguments, ensure_ascii=False)
        )

    @cached_property
    def _common(self) -> tuple[ToolSpec, ...]:
        return tuple(tool for tool in self.tools if self._is_common(tool))

    def _besides(self, text: str) -> tuple[ToolSpec, ...]:
        """Return the less common tools that could apply: each costs the time to read about it."""
        words = text.casefold()
        return tuple(tool for tool in self.tools if not self._is_common(tool) and self._could_apply(tool, words))

    def _is_common(self, tool: ToolSpec) -> bool:
        known = self.examples.tools.get(tool.name)
        return known is not None and known.is_common

    def _could_apply(self, tool: ToolSpec, words: str) -> bool:
        known = self.examples.tools.get(tool.name)
        return known is None or bool(known.pattern.search(words))

    def _turns(self, tools: Sequence[ToolSpec], none: Sequence[str]) -> list[dict[str, str]]:
        """Alternate examples of the tools with examples of none, so that none comes last and never seems rare."""
        wanted = [
            (question, {"tool": tool.name, "arguments": dict(arguments)})
            for tool in tools
            if (known := self.examples.tools.get(tool.name))
            for question, arguments in known.questions.items()
            if _fits(arguments, tool)
        ]
        unwanted = [(question, {"tool": NO_TOOL}) for question in none]
        mixed: list[tuple[str, Json]] = []
        for place in range(max(len(wanted), len(unwanted))):
            mixed += [*wanted[place : place + 1], *unwanted[place : place + 1]]
        return [turn for asked, answer in mixed for turn in _turn(asked, answer)]


def _line(tool: ToolSpec) -> str:
    return f'{{"tool": "{tool.name}", …}}: {tool.description}'


def _fits(arguments: Mapping[str, Json], tool: ToolSpec) -> bool:
    """Whether an example still matches the tool's own description of its arguments."""
    known, required = tool.parameters.get("properties", {}), tool.parameters.get("required", ())
    return set(required) <= set(arguments) <= set(known)


def _form(name: str, properties: Mapping[str, Json]) -> Json:
    return {
        "type": "object",
        "properties": {"tool": {"const": name}, **properties},
        "required": ["tool", *properties],
        "additionalProperties": False,
    }


def _turn(question: str, answer: Json) -> list[dict[str, str]]:
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)},
    ]
