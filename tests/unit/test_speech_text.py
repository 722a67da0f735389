"""What a voice is given to say: words without markup, and numbers as people say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.speech_text import SpeechWriter, speakable_sentences, speech_text


def english(text: str) -> str:
    return speech_text(text, "en-US")


def test_markdown_links_tables_and_emoji_are_not_read_aloud() -> None:
    text = "**Bold** and [site](https://example.org/a?b=1) 😀\n- one\n- two\n| a | b |\n|---|---|"
    assert english(text) == "Bold and site, one. two. a, b."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Title\n\nText", "Title. Text"),
        ("> a quote", "a quote."),
        ("1. First\n2) Second", "First. Second."),
        ("- [x] done\n- [ ] open", "done. open."),
        ("Use `code` and ~~not~~ _this_ snake_case.", "Use code and not this snake case."),
        ("**A sentence. And", "A sentence. And"),
        ("See ![a cat](cat.png) here[1] and there [2].", "See a cat here and there."),
        ("Read【4†source】 this[^1].", "Read this."),
        ("Look at <https://www.example.org/path?a=1>.", "Look at example dot org."),
        ("It is on https://example.org/wiki/Cat_(animal), they say.", "It is on example dot org, they say."),
        ("Half of a link: [What is AI? ", "Half of a link: What is AI?"),
        ("A guide](https://example.org/a) to it", "A guide to it"),
        ("Fish &amp; chips<br>today", "Fish and chips today"),
        ("Before\n```python\nprint(1)\n```\nafter", "Before, after"),
        ("🇫🇷 👨‍👩‍👧 hi 1️⃣ ☀️ ✅", "hi 1"),
        ("---", ""),
        ("👍🏽", ""),
        ("", ""),
    ],
)
def test_what_only_the_eye_needs_is_left_out(text: str, words: str) -> None:
    assert english(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at 3:45", "at 3 45"),
        ("at 15:00 or 0:30", "at 3 PM or 12 30 AM"),
        ("at 3:05 p.m. today", "at 3 oh 5 PM today"),
        ("It is 3:05 p.m.", "It is 3 oh 5 PM."),
        ("12:00", "12 o'clock"),
        ("a ratio of 3:1", "a ratio of 3 to 1"),
        ("Call 555-1234.", "Call 5 5 5, 1 2 3 4."),
        ("(415) 555-1234", "4 1 5, 5 5 5, 1 2 3 4"),
        ("+49 30 123456", "plus 4 9, 3 0, 1 2 3 4 5 6"),
        ("80 km/h, 1 km, 25 °C", "80 kilometers per hour, 1 kilometer, 25 degrees Celsius"),
        ("16GB at 3.2 GHz", "16 gigabytes at 3.2 gigahertz"),
        ("6 ft and 2 lbs", "6 feet and 2 pounds"),
        ("5'3\" tall", "5 foot 3 tall"),
        ("the 1980s in 4K", "the 1980s in 4K"),
        ("$1,299.99 or 20 €", "$1,299.99 or €20"),
        ("$5 million, €3bn, $5k, ¥500", "5 million dollars, 3 billion euros, 5 thousand dollars, 500 yen"),
        ("on 2026-11-30", "on November 30, 2026"),
        ("on 30/11/2026", "on November 30, 2026"),
        ("v2.1 and 2.10.3", "version 2.1 and 2 point 10 point 3"),
        ("192.168.1.10", "192 dot 168 dot 1 dot 10"),
        ("10-20 people, -5 degrees", "10 to 20 people, minus 5 degrees"),
        ("1/2 cup, 2½ cups, 5/8", "one half cup, 2 and one half cups, 5 over 8"),
        ("3 x 4 = 12, 3*4, x² ≤ 9", "3 times 4 equals 12, 3 times 4, x squared at most 9"),
        ("10 - 4 and 8 / 2", "10 minus 4 and 8 divided by 2"),
        ("e.g. cats, i.e. pets vs. wild ones", "for example, cats, that is, pets versus wild ones"),
        ("No. 5 & #1", "number 5 and number 1"),
        ("he/she and/or they", "he or she and or they"),
        ("007 and 1234567890", "0 0 7 and 1 2 3 4 5 6 7 8 9 0"),
        ("Write to a.b@example.org", "Write to a dot b at example dot org"),
        ("C# and F#", "C sharp and F sharp"),
        ("A → B", "A, B"),
        ("50%, the 3rd, 21st, 3.14, 12,000, in 1999", "50%, the 3rd, 21st, 3.14, 12,000, in 1999"),
    ],
)
def test_english_numbers_and_signs_are_written_as_they_are_said(text: str, words: str) -> None:
    assert english(text) == words


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("**你好** [链接](https://example.org) 😀", "zh-CN", "你好 链接"),
        ("- 一\n- 二", "zh-CN", "一。 二。"),
        ("Um **15:00** sind es 3,5 km.", "de", "Um 15:00 sind es 3,5 km."),
        ("Il coûte 20 €.", "fr", "Il coûte 20 €."),
    ],
)
def test_in_other_languages_only_markup_goes(text: str, language: str, words: str) -> None:
    assert speech_text(text, language) == words


def test_code_is_passed_over_though_it_comes_line_by_line() -> None:
    writer = SpeechWriter("en-US")
    lines = ["Look:\n", "```python\n", "print(1)\n", "```\n", "Done. ", "```x = 1``` ", "Good."]
    assert [writer.write(line) for line in lines] == ["Look:", "", "", "", "Done.", "", "Good."]


def test_a_whole_text_is_said_sentence_by_sentence() -> None:
    assert speakable_sentences("Yes. **No.**\n\n---\n\n```\ncode\n```\n- one 😀\n", "en-US") == ["Yes.", "No.", "one."]


@given(st.text(max_size=200), st.sampled_from(["en-US", "de", "ja"]))
def test_any_text_can_be_made_speakable(text: str, language: str) -> None:
    words = speech_text(text, language)
    assert not set("*`|[]{}\n") & set(words)
    assert words == "" or any(character.isalnum() for character in words)
