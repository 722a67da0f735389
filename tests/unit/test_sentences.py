"""Where text is cut: the same at any split, never inside a number, a name or a character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.sentences import EarlyCuts, SentenceSplitter, pieces, sentences_of

TRICKY = st.lists(
    st.sampled_from(
        [
            *(". ", "! ", "? ", ", ", "; ", "\n", "\n\n", " ", "...", "。", "！", "」", '"', ")", "- ", "1. ", "**"),
            *(
                "Dr.",
                "e.g.",
                "3.14",
                "$1,299.99",
                "U.S.",
                "word",
                "Word",
                "你好",
                "😀",
                "👨‍👩‍👧",
                "🇫🇷",
                "e\u0301",
                "No",
                "I",
            ),
        ]
    ),
    max_size=40,
).map("".join)


def stripped(text: str) -> list[str]:
    return [sentence.strip() for sentence in sentences_of(text)]


def fed(text: str, sizes: list[int], *lengths: int, is_eager: bool = False) -> list[str]:
    splitter = SentenceSplitter(EarlyCuts(lengths, before_joiners=is_eager))
    found, start = [], 0
    for size in sizes:
        found += splitter.feed(text[start : start + size])
        start += size
    return [*found, *splitter.feed(text[start:]), *splitter.finish()]


def test_numbers_versions_sums_and_addresses_are_not_cut() -> None:
    assert stripped("It is 3.14 km. Version 2.10.3 costs $1,299.99. See example.org. Bye.") == [
        "It is 3.14 km.",
        "Version 2.10.3 costs $1,299.99.",
        "See example.org.",
        "Bye.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mrs. Jones.",
        "Some fruit, e.g. Apples, is sweet.",
        "J. R. R. Tolkien wrote it.",
        "She serves in the U.S. Army.",
        "No. 5 is alive.",
        "It was on Jan. 5 at noon.",
        "Yahoo! is a company.",
        '"Really?" he said.',
        "Well... maybe not.",
    ],
)
def test_a_dot_that_ends_no_sentence_does_not_cut(text: str) -> None:
    assert sentences_of(text) == [text]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Yes. No. Stop!", ["Yes.", "No.", "Stop!"]),
        ("So do I. Then we left.", ["So do I.", "Then we left."]),
        ('He said "Stop." She left.', ['He said "Stop."', "She left."]),
        ("At 5 p.m. Then we ate.", ["At 5 p.m.", "Then we ate."]),
        ("**Bold.** Next one.", ["**Bold.**", "Next one."]),
        ("你好。今天「很好。」我们走吧！好", ["你好。", "今天「很好。」", "我们走吧！", "好"]),
        ("1. Wash it\n2. Cut it. Then cook it\n\n- Eat", ["1. Wash it", "2. Cut it.", "Then cook it", "- Eat"]),
    ],
)
def test_sentences_lines_and_list_items_are_told_apart(text: str, sentences: list[str]) -> None:
    assert stripped(text) == sentences


def test_a_sentence_is_out_with_the_first_character_of_the_next() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("Paris is the capital.") == []
    assert splitter.feed(" It") == ["Paris is the capital. "]
    assert splitter.finish() == ["It"]


def test_the_first_clause_is_out_early_when_it_is_long_enough() -> None:
    text = "Yes, the capital of France is Paris, which lies on the Seine, and it is old. Next, this, and that one, too."
    assert [each.strip() for each in fed(text, [], 25)] == [
        "Yes, the capital of France is Paris,",
        "which lies on the Seine, and it is old.",
        "Next, this, and that one, too.",
    ]


def test_a_short_first_sentence_is_not_held_for_a_clause() -> None:
    assert fed("Sure. Here it is, as you wished.", [], 25)[0] == "Sure. "


def test_an_eager_beginning_ends_before_a_joining_word() -> None:
    text = "The sky looks blue at noon because of the air that scatters light. It is so because of this."
    assert fed(text, [], 25, is_eager=True) == [
        "The sky looks blue at noon ",
        "because of the air that scatters light. ",
        "It is so because of this.",
    ]
    assert fed("The capital of France is Paris. It is old.", [], 25, is_eager=True)[0].strip() == (
        "The capital of France is Paris."
    )


EAGER_TEXTS = TRICKY | st.lists(st.sampled_from(["the", "and", "because", "sky", "of,", "is.", "I"])).map(" ".join)


@given(
    EAGER_TEXTS, st.lists(st.integers(0, 7), max_size=60), st.sampled_from([(), (5,), (25,), (3, 8, 20)]), st.booleans()
)
def test_sentences_joined_are_the_text_and_the_cuts_are_the_same_at_any_split(
    text: str, sizes: list[int], lengths: tuple[int, ...], is_eager: bool
) -> None:
    whole = fed(text, [], *lengths, is_eager=is_eager)
    assert "".join(whole) == text
    assert fed(text, sizes, *lengths, is_eager=is_eager) == whole


LONG = " ".join(
    [
        "The first sentence is of a middling length and says little.",
        "The second has no comma but goes on for two hundred and thirty characters " + "and on " * 22 + "to its end.",
        "The third is short.",
        "The fourth, however, has commas, and it goes on, and on, for a while.",
        "The fifth 👨‍👩‍👧‍👦 ends it.",
    ]
)


def test_a_long_answer_is_cut_into_pieces_that_the_vendor_takes() -> None:
    found = pieces(LONG, 200)
    assert len(LONG) > 401
    assert "".join(found) == LONG
    assert all(1 <= len(piece) <= 200 for piece in found)
    assert found[0] == "The first sentence is of a middling length and says little. "
    words = LONG.split()
    assert [word for piece in found for word in piece.split()] == words


@given(TRICKY, st.integers(1, 60))
def test_pieces_fit_and_joined_are_the_text(text: str, limit: int) -> None:
    found = pieces(text, limit)
    assert "".join(found) == text
    assert all(1 <= len(piece) <= limit for piece in found)


@given(st.lists(st.sampled_from(["one", "two,", "three.", "Four", "fünf!", "don't"]), max_size=60).map(" ".join))
def test_no_piece_ends_inside_a_word(text: str) -> None:
    assert [word for piece in pieces(text, 12) for word in piece.split()] == text.split()


@pytest.mark.parametrize("character", ["👨‍👩‍👧‍👦", "🇫🇷", "e\u0301", "👍🏽", "1️⃣"])
def test_a_character_of_several_code_points_stays_whole(character: str) -> None:
    found = pieces(character * 5, len(character) + 1)
    assert "".join(found) == character * 5
    assert all(piece == character for piece in found)


def test_a_word_longer_than_the_limit_is_cut_where_it_must() -> None:
    assert pieces("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
