"""The markup filter: thoughts and channel marks never reach a person, however the stream is cut."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tertulia.domain.markup import MarkupFilter, without_markup

PIECES = (
    "<think>", "</think>", "<thinking>", "</thinking>", "<reasoning>", "</reasoning>", "<THINK>", "<|channel|>", "<|message|>", "<|end|>",
    "<|start|>", "<|call|>", "<|return|>", "<|im_end|>", "analysis", "final", "commentary to=tool", "assistant", "<", ">", "</", "<|", "|>",
    " ", "\n", "a < b", "List<int>", "<b>", "<th", "words", "你好", "İ", "K",
)  # fmt: skip
marked_texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)
plain_texts = st.text(st.characters(exclude_characters="<", exclude_categories=["Cs"]))


def streamed(pieces: list[str]) -> str:
    markup = MarkupFilter()
    return "".join([*(markup.feed(piece) for piece in pieces), markup.finish()])


@st.composite
def cut_texts(draw: st.DrawFn) -> list[str]:
    text = draw(marked_texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


@given(cut_texts())
@example(["<thi", "nk>secret plan</th", "ink>\n\nHel", "lo"])
def test_any_split_gives_what_the_whole_text_gives(pieces: list[str]) -> None:
    assert streamed(pieces) == without_markup("".join(pieces))


@given(marked_texts)
def test_one_character_at_a_time_gives_what_the_whole_text_gives(text: str) -> None:
    assert streamed(list(text)) == without_markup(text)


@given(plain_texts)
def test_a_text_without_markup_passes_unchanged(text: str) -> None:
    assert without_markup(text) == text.lstrip()


@given(plain_texts, plain_texts)
def test_thoughts_are_taken_out_and_the_answer_stays(thought: str, answer: str) -> None:
    for name in ("think", "thinking", "reasoning"):
        assert streamed([*f"<{name}>{thought}</{name}>{answer}"]) == answer.lstrip()


BEGUN = ("<th", "<thi", "<thin", "<think", "</t", "</th", "<|cha", "<|channel|")


@given(cut_texts())
@example(["<th<think>"])
@example(["<th<th"])
def test_no_begun_tag_is_ever_shown(pieces: list[str]) -> None:
    markup, shown, written = MarkupFilter(), "", ""
    for piece in pieces:
        shown += markup.feed(piece)
        written += piece
        if written.lower().endswith(BEGUN):
            # An earlier bracket may be shown by now: another character has shown that it began no tag.
            assert shown.count("<") < written.count("<")


def test_a_thinking_tag_cut_over_chunks_is_never_seen() -> None:
    markup = MarkupFilter()
    tokens = [markup.feed(piece) for piece in ("<thi", "nk>secret plan</th", "ink>\n\nHel", "lo")]
    assert [*tokens, markup.finish()] == ["", "", "Hel", "lo", ""]


def test_only_the_final_channel_is_shown() -> None:
    text = "<|channel|>analysis<|message|>2+2, easy.<|end|><|start|>assistant<|channel|>final<|message|>Four."
    assert without_markup(text) == "Four."
    assert streamed(list(text)) == "Four."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>never closed", ""),
        ("Hello.</think> Bye.", "Hello. Bye."),
        ("Hello <think>psst</think>there", "Hello there"),
        ("<think>a</think><think>b</think>c", "c"),
        ("<Think>a</THINK>\n b", "b"),
        ("<thinking>is <reasoning> a tag? </reasoning> yes</thinking>Yes.", "Yes."),
        ("<|start|>assistant<|message|>Hi.<|return|>", "Hi."),
        ("<|channel|>commentary to=functions.calc <|constrain|>json<|message|>{}<|call|>", ""),
        ("<|channel|>analysis<|message|>hm<|channel|>final<|message|>Yes.<|end|>", "Yes."),
        ("<|channel|>analysis<|message|>a <think> in a thought<|end|><|channel|>final<|message|>Yes.", "Yes."),
        ("<|channel|>final\nYes.", "\nYes.".lstrip()),
        ("Four.<|im_end|><|endoftext|>", "Four."),
        ("  \n Hello  \n", "Hello  \n"),
        ("cut in the middle <thi", "cut in the middle "),
        ("a header that never ends <|start|>" + "x" * 121, "a header that never ends x"),
    ],
)
def test_each_form_of_markup_is_understood(text: str, shown: str) -> None:
    assert streamed(list(text)) == without_markup(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "x<y and y>z",
        "<b>bold</b>",
        "Map<str, List<int>>",
        "a <| b |> c",
        "1 <",
        "</",
        "<|",
        "<thinker>",
        "i <t",
        "<|a b|>",
        "< think>",
    ],
)
def test_what_only_resembles_markup_passes(text: str) -> None:
    assert streamed(list(text)) == text


@pytest.mark.parametrize(
    ("piece", "shown"), [("a <b", "a <b"), ("a < ", "a < "), ("a <", "a "), ("a <t", "a "), ("a <|fi", "a ")]
)
def test_only_what_may_become_a_tag_is_held_back(piece: str, shown: str) -> None:
    assert MarkupFilter().feed(piece) == shown
