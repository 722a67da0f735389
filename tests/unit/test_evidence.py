"""Only what the user's own words bear out is a fact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.evidence import quoted, told

TEXT = "Hi! I’m allergic  to\npeanuts. My sister lives in Porto, where I go on Friday. Do I like tea?"


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ("I'm allergic to peanuts.", "I’m allergic to peanuts"),
        ("i'm ALLERGIC to peanuts", "I’m allergic to peanuts"),
        ('"My sister lives in Porto"', "My sister lives in Porto"),
        ("where I go on Friday", "where I go on Friday"),
    ],
)
def test_a_quote_comes_back_as_the_user_wrote_it(evidence: str, words: str) -> None:
    assert quoted(evidence, TEXT) == words


@pytest.mark.parametrize(
    "evidence",
    [
        "",
        "?!",
        "I'm allergic to shrimps",
        "The user is allergic to peanuts",
        "Do I like tea?",
        "Do I like tea",
        "Hi",
        "ister lives in Por",
    ],
)
def test_what_the_user_did_not_say_or_only_asked_is_no_evidence(evidence: str) -> None:
    assert quoted(evidence, TEXT) == ""


@pytest.mark.parametrize(
    ("text", "evidence", "words"),
    [
        ("我对青霉素过敏，每周三晚上去游泳。", "我对青霉素过敏", "我对青霉素过敏"),
        ("我对青霉素过敏吗？", "我对青霉素过敏吗", ""),
        ("나는 부산에 살아요", "부산에 살아요", "부산에 살아요"),
        ("İstanbul'da yaşıyorum, adım Ömer", "adım Ömer", "adım Ömer"),
        ("Groß ist mein Hund Rex.", "mein Hund Rex", "mein Hund Rex"),
        ("my password is [REDACTED] since May", "my password is [REDACTED]", ""),
    ],
)
def test_every_script_is_quoted_in_its_place(text: str, evidence: str, words: str) -> None:
    assert quoted(evidence, text) == words


@given(text=st.text(max_size=200), evidence=st.text(max_size=40))
def test_evidence_is_always_part_of_the_text(text: str, evidence: str) -> None:
    found = quoted(evidence, text)
    assert found in " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("What is the capital of France?", ""),
        ("I'm allergic to peanuts. What can I cook?", "I'm allergic to peanuts."),
        ("I work in Lisbon, which train goes at 8?", "I work in Lisbon"),
        ("Hey you, what is 2.5 + 2?", ""),
        ("My number is 3.5. OK", "My number is 3.5. OK"),
        ('She said "Do you like tea?"', ""),
        ("我对青霉素过敏。我可以吃什么？", "我对青霉素过敏。"),
        ("我住在上海，天气怎么样？", "我住在上海"),
        ("¿Dónde vivo? Vivo en Madrid", "Vivo en Madrid"),
        ("remind me\nto call Ana", "remind me to call Ana"),
        ("", ""),
    ],
)
def test_questions_tell_nothing(text: str, part: str) -> None:
    assert told(text) == part
