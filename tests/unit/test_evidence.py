"""Only what the user's own words bear out is a fact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.evidence import quoted

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
