"""The fixed sentences in ten languages."""

import re

import pytest

from tertulia.domain.errors import TertuliaError
from tertulia.domain.languages import ENGLISH, LANGUAGES
from tertulia.domain.phrases import phrase, phrases


def error_codes(kind: type[TertuliaError] = TertuliaError) -> set[str]:
    """Return the codes of the one tree; a settings error stops the start and is never spoken."""
    children = (child for child in kind.__subclasses__() if child.__module__ == TertuliaError.__module__)
    return {kind.code}.union(*(error_codes(child) for child in children))


def places(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_places(language: str) -> None:
    english = phrases(ENGLISH)
    here = phrases(language)
    assert set(here) == set(english)
    assert {key: places(text) for key, text in here.items()} == {key: places(text) for key, text in english.items()}
    assert all(text.strip() == text and text for text in here.values())


@pytest.mark.parametrize("language", [tag for tag in LANGUAGES if tag != ENGLISH])
def test_no_sentence_of_another_language_is_left_in_english(language: str) -> None:
    assert not set(phrases(language).values()) & set(phrases(ENGLISH).values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_model_failures_sound_the_same(language: str) -> None:
    told = [text for key, text in phrases(language).items() if key.startswith("model_")]
    assert len(told) == len(set(told)) == 9


def test_every_error_code_has_a_sentence() -> None:
    assert error_codes() <= set(phrases(ENGLISH))


def test_the_texts_that_the_seeds_fix_are_kept_to_the_letter() -> None:
    assert phrase("limit", "en-US").startswith("I hit my limit")
    assert phrase("limit", "zh-CN") == "抱歉，处理超时，请重试。"
    assert phrase("warning", "zh-CN") == "警告"
    assert phrase("attachment", "zh-CN", name="a.txt", bytes="12") == "[附件: a.txt (12 bytes)]"
    assert phrase("attachment_image", "zh-CN") == "请分析这张图片"
    assert phrase("client_timeout", "zh-CN") == "请求超时，AI 可能正在处理大量内容"
    assert phrase("client_unreachable", "zh-CN", reason="x") == "无法连接服务端: x"


def test_values_with_braces_stay_as_they_are() -> None:
    said = phrase("attachment", "en-US", name="{bytes} {0} {{x}}.txt", bytes="7")
    assert said == "[Attachment: {bytes} {0} {{x}}.txt (7 bytes)]"


def test_a_place_without_a_value_stays_visible() -> None:
    assert "{seconds}" in phrase("model_busy_wait", "de")


def test_a_tag_we_do_not_know_is_answered_in_the_closest_language() -> None:
    assert phrase("warning", "pt-PT") == phrase("warning", "pt-BR")
    assert phrase("warning", "it-IT") == phrase("warning", ENGLISH)


def test_an_unknown_key_is_an_error_of_ours() -> None:
    with pytest.raises(KeyError):
        phrase("no_such_sentence", "en-US")
