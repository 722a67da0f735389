"""Claims of actions are told from other sentences: measured on written examples in ten languages."""

import json
from pathlib import Path

import pytest

from tertulia.answering.claims import claims_in, claims_too_much
from tertulia.answering.toolbox import Toolbox
from tertulia.domain.languages import LANGUAGES
from tertulia.domain.turns import ToolUse

EXAMPLES: dict[str, dict[str, list[str]]] = json.loads(
    (Path(__file__).parents[1] / "recordings" / "claims.json").read_text("utf-8")
)


def share_found(kind: str, languages: list[str] | None = None) -> float:
    sentences = [sentence for language in languages or EXAMPLES for sentence in EXAMPLES[language][kind]]
    return sum(bool(list(claims_in(sentence))) for sentence in sentences) / len(sentences)


def done(name: str, *, ok: bool = True, **arguments: str) -> ToolUse:
    return ToolUse(call_id="c", name=name, arguments=arguments, result="", ok=ok)


def test_there_are_examples_in_every_language() -> None:
    assert set(EXAMPLES) == set(LANGUAGES)
    assert all(len(of["claims"]) >= 10 and len(of["others"]) >= 10 for of in EXAMPLES.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_claims_are_found_and_other_sentences_are_left_alone(language: str) -> None:
    assert share_found("claims", [language]) >= 0.9
    assert share_found("others", [language]) == 0


def test_sentences_written_after_the_rules_are_judged_as_well() -> None:
    assert share_found("unseen_claims") >= 0.95
    assert share_found("unseen_others") <= 0.05


@pytest.mark.parametrize(
    ("text", "use", "too_much"),
    [
        ("I've added milk to your list.", done("add_todo", title="milk"), False),
        ("I've added milk to your list.", done("add_todo", ok=False, title="milk"), True),
        ("I've added milk to your list.", done("web_search", query="milk"), True),
        ("I've sent the email to Tom.", done("composio_execute", tool="GMAIL_SEND"), False),
        ("I've sent the email to Tom.", done("list_todos"), True),
        ("Paris is the capital of France.", done("list_todos"), False),
    ],
)
def test_a_claim_needs_a_successful_tool_of_its_kind(text: str, use: ToolUse, too_much: bool) -> None:
    assert claims_too_much(text, [use], [], Toolbox()) is too_much
