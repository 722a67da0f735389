"""Puts together what a chat model reads: the system text, earlier turns, labeled data, and the user's own words last.

Texts are joined, never filled in, so braces and markup in anybody's words arrive as they are.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tertulia.domain.languages import LANGUAGES, closest_language
from tertulia.domain.memories import Memory
from tertulia.domain.prompts import ChatMessage, ToolCall, ToolSpec
from tertulia.domain.scenarios import scenarios
from tertulia.domain.surfaces import Route, Style, Surface
from tertulia.domain.turns import Attachment, Turn
from tertulia.ports import Question


@dataclass(frozen=True, kw_only=True)
class PromptInputs:
    """What a prompt is made of."""

    question: Question
    route: Route
    history: Sequence[Turn] = ()
    memories: Sequence[Memory] = ()
    tools: Sequence[ToolSpec] = ()


def prompt_messages(inputs: PromptInputs) -> tuple[ChatMessage, ...]:
    """Return the system text, the last whole turns, and the user's message."""
    question, request = inputs.question, inputs.question.request
    kept = [turn for turn in inputs.history if turn.is_whole]
    most_turns = request.surface.history_messages // 2
    system = system_text(inputs.route, request.answer_style, question.language, inputs.tools, request.scenario)
    return (
        ChatMessage(role="system", parts=(system,)),
        *(message for turn in kept[-most_turns:] for message in _history(turn)),
        ChatMessage(role="user", parts=tuple(_user_parts(inputs))),
    )


def system_text(
    route: Route, style: Style, language: str, tools: Sequence[ToolSpec] = (), scenario: str | None = None
) -> str:
    """Return what stays the same from turn to turn, with the language last, so that models can keep it at hand."""
    language = closest_language(language)
    parts = [prompt_file(style.value), prompt_file("care"), prompt_file(route.value)]
    if tools:
        parts.append("Tools:\n" + "\n".join(f"- {tool.name}: {tool.description}" for tool in tools))
    if scenario and (prompt := scenarios(language)[scenario].prompt):
        parts.append(prompt)
    return "\n".join([*parts, f"Answer in {LANGUAGES[language]}."])


def memory_part(memories: Sequence[Memory], surface: Surface, language: str) -> str:
    """Return the memories under their heading, newest first and no more than the surface shows; empty without any."""
    if not memories:
        return ""
    newest = sorted(memories, key=lambda memory: memory.created_at, reverse=True)[: surface.memories]
    heading = _labels(language)[f"{surface.style}_memories"]
    return "\n".join([heading, *(_memory_line(memory, surface.style) for memory in newest)])


def _memory_line(memory: Memory, style: Style) -> str:
    # A memory keeps to its line, or its text could pose as a line of ours.
    text = " ".join(memory.content.splitlines())
    if style is Style.SPOKEN:
        return f"- {text} (created {memory.created_at:%Y-%m-%d})"
    return f"- [{memory.kind}] [{memory.category}] {text}"


def _history(turn: Turn) -> Iterator[ChatMessage]:
    labels = tuple(_attachment_label(attachment, turn.language) for attachment in turn.attachments)
    yield ChatMessage(role="user", parts=(*labels, turn.text))
    if turn.tools:
        calls = [
            ToolCall(id=use.call_id, name=use.name, arguments=json.dumps(dict(use.arguments), ensure_ascii=False))
            for use in turn.tools
        ]
        yield ChatMessage(role="assistant", tool_calls=tuple(calls))
    for use in turn.tools:
        yield ChatMessage(role="tool", parts=(use.result,), tool_call_id=use.call_id)
    yield ChatMessage(role="assistant", parts=(turn.answer,))


def _user_parts(inputs: PromptInputs) -> Iterator[str]:
    question, attachments = inputs.question, inputs.question.request.attachments
    for attachment in attachments:
        label = _attachment_label(attachment, question.language)
        yield f"{label}\n{attachment.text}" if attachment.text else label
    if part := memory_part(inputs.memories, question.request.surface, question.language):
        yield part
    yield question.text if question.text.strip() or not attachments else _words_for(attachments, question.language)


def _attachment_label(attachment: Attachment, language: str) -> str:
    name = " ".join(attachment.name.split())
    return f"[{_labels(language)['attachment']}: {name} ({attachment.size} bytes)]"


def _words_for(attachments: Sequence[Attachment], language: str) -> str:
    is_image = any(attachment.media_type.lower().startswith("image/") for attachment in attachments)
    return _labels(language)["image_alone" if is_image else "file_alone"]


@cache
def prompt_file(name: str) -> str:
    """Return one of the prompts in `prompts/`."""
    return resources.files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def _labels(language: str) -> dict[str, str]:
    return _all_labels()[closest_language(language)]


@cache
def _all_labels() -> dict[str, dict[str, str]]:
    text = resources.files(__package__).joinpath("prompts", "labels.json").read_text("utf-8")
    labels: dict[str, dict[str, str]] = json.loads(text)
    return labels
