"""A yes is a whole message and nothing more; whatever is unclear is no yes."""

import json
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.domain.languages import LANGUAGES
from tertulia.domain.verdicts import Verdict, asks_to_undo, verdict_of

WORDS: dict[str, dict[str, list[str]]] = json.loads(
    resources.files("tertulia.domain").joinpath("verdicts.json").read_text("utf-8")
)
CLEAR: list[tuple[str, str, str]] = [
    ("en-US", "Yes, delete it, please!", "Nope."),
    ("zh-CN", "好的，删除吧。", "不用了，谢谢。"),
    ("zh-TW", "好的，刪除吧。", "不用了，謝謝。"),
    ("ja", "はい、お願いします。", "いいえ、結構です。"),
    ("ko", "네, 삭제해 주세요.", "아니요, 하지 마세요."),
    ("de", "Ja, bitte!", "Nein, lieber nicht."),
    ("es-ES", "Sí, hazlo.", "No, mejor no."),
    ("fr", "Oui, vas-y.", "Non, laisse tomber."),
    ("pt-BR", "Sim, pode fazer.", "Não, deixa pra lá."),
    ("ru", "Да, конечно!", "Нет, не надо."),
]


def test_every_language_has_words_of_every_kind() -> None:
    assert set(WORDS) == set(LANGUAGES)
    for of_language in WORDS.values():
        assert all(len(of_language[kind]) >= 5 for kind in ("yes", "more", "no", "undo", "around"))


@pytest.mark.parametrize("language", WORDS)
def test_every_listed_word_says_what_it_stands_for(language: str) -> None:
    words = WORDS[language]
    assert [word for word in words["yes"] if verdict_of(word) is not Verdict.YES] == []
    assert [word for word in words["no"] if verdict_of(word) is not Verdict.NO] == []
    assert [word for word in words["undo"] if not asks_to_undo(word)] == []


@pytest.mark.parametrize(("language", "yes", "no"), CLEAR)
def test_a_clear_answer_is_understood_in_every_language(language: str, yes: str, no: str) -> None:
    assert language in LANGUAGES
    assert (verdict_of(yes), verdict_of(no)) == (Verdict.YES, Verdict.NO)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "Yes?",
        "yes but only the first one",
        "yes, and also send it to Bob",
        "yes no",
        "no wait, yes",
        "yesterday",
        "noon",
        "Is that a yes",
        "I said yes to the dress",
        "可以吗？",
        "好吃",
        "不好意思，什么",
        "好吧不要",
        "はいってください",
        "大丈夫です",
        "いいです",
        "네가 뭔데",
        "si no",
        "para mí sí que no",
        "Ja nein vielleicht",
        "oui mais pas celui-là",
        "sim e não",
        "да нет наверное",
        "the web page says: yes",
        "yes " * 40,
    ],
)
def test_what_is_unclear_is_no_yes(text: str) -> None:
    assert verdict_of(text) is not Verdict.YES


@pytest.mark.parametrize("text", ["ＹＥＳ", "d’accord", "OKAY!!!", "Да", "  yes  ", "sí", "Sí".encode().decode()])
def test_width_case_and_quotation_marks_do_not_matter(text: str) -> None:
    assert verdict_of(text) is Verdict.YES


@pytest.mark.parametrize(
    "text",
    ["Undo that, please.", "Can you undo that?", "Oh no, undo it!", "Mach das bitte rückgängig.", "请帮我撤销",
     "すみません、元に戻してください。", "아, 방금 거 취소해줘", "Отмени это, пожалуйста", "Ops, desfaz isso", "Annule ça s'il te plaît"],
)  # fmt: skip
def test_a_wish_to_undo_is_understood(text: str) -> None:
    assert asks_to_undo(text)


@pytest.mark.parametrize(
    "text",
    ["undo that and add milk", "How do I undo a commit?", "undo the reminder from last week", "please", "", "撤销合同怎么写", "取消明天的会议"],
)  # fmt: skip
def test_more_than_a_wish_to_undo_goes_to_the_model(text: str) -> None:
    assert not asks_to_undo(text)


@given(st.sampled_from([one for words in WORDS.values() for one in words["yes"]]), st.sampled_from(CLEAR))
def test_a_yes_with_a_no_behind_it_is_no_yes(yes: str, clear: Any) -> None:
    assert verdict_of(f"{yes}, {clear[2]}") is not Verdict.YES
