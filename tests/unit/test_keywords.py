"""Keywords: whole words, each in its own language, in every script."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.answering.routing import tool_keywords
from tertulia.domain.keywords import Keywords, LanguageWords, comparable
from tertulia.domain.languages import LANGUAGES

KEYWORDS = tool_keywords()
FIRST_SEED = (
    "notion", "to-do", "todo", "task list", "to do list", "calendar", "schedule", "reminder", "note down", "create a task", "add a task",
)  # fmt: skip


def test_there_are_keywords_in_each_language() -> None:
    for language in LANGUAGES:
        others = Keywords({"en-US": LanguageWords(()), language: LanguageWords(())})
        assert others.find("calendar", language) is None
        assert KEYWORDS.find("put it on my calendar", language) == "calendar"


@pytest.mark.parametrize("word", FIRST_SEED)
def test_the_phrases_of_the_first_seed_match(word: str) -> None:
    assert KEYWORDS.find(f"Please, {word.upper()}: buy milk", "en-US") == word


def test_the_example_of_the_first_seed_matches() -> None:
    assert KEYWORDS.find("add a task to my to-do list", "en-US")


@pytest.mark.parametrize("language", ["en-US", "es-ES", "pt-BR", "fr", "it"])
@pytest.mark.parametrize(
    "text",
    [
        "¿Qué método usas?",
        "Quero saber de todos os planetas",
        "Explain photodode",
        "my cat reschedules itself",
        "I want to do something nice",
        "a how-to-do guide",
        "Dime todo sobre Marte",
        "Sobre todo me gusta el mar",
        "Está todo bem com você?",
        "the notional value",
        "the reminderless life",
    ],
)
def test_a_keyword_inside_another_word_is_none(text: str, language: str) -> None:
    assert KEYWORDS.find(text, language) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Cuéntame todo", "es-ES"),
        ("Me conta todo o filme, todo mesmo", "pt-BR"),
        ("Quelle est la notion de liberté ?", "fr"),
        ("生日历史上有谁", "zh-CN"),
        ("일정한 속도로 움직이는 물체", "ko"),
        ("소금의 역할 일부를 설명해줘", "ko"),
    ],
)
def test_a_word_that_means_something_else_in_its_language_is_no_keyword(text: str, language: str) -> None:
    assert KEYWORDS.find(text, language) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("加到todo里", "zh-CN"),
        ("把这件事加入待办事项", "zh-CN"),
        ("明天提醒我开会", "zh-CN"),
        ("幫我加到行事曆", "zh-TW"),
        ("新しいToDoリストを見せて", "ja"),
        ("ｶﾚﾝﾀﾞｰに会議を追加して", "ja"),
        ("캘린더에 회의 추가해줘", "ko"),
        ("할일을 보여줘", "ko"),
        ("할 일을 보여줘", "ko"),
        ("Setz das auf meine Aufgabenliste", "de"),
        ("Zeig meine To-do-Liste", "de"),
        ("Añade una tarea para mañana", "es-ES"),
        ("add milk to my todo list", "es-ES"),
        ("Mets ça dans l'agenda", "fr"),
        ("Ajoute une tâche", "fr"),
        ("Note ça dans Notion", "fr"),
        ("Crie uma tarefa: comprar leite", "pt-BR"),
        ("Coloca na minha lista de afazeres", "pt-BR"),
        ("Добавь задачу в список дел", "ru"),
    ],
)
def test_what_asks_for_a_tool_matches_in_each_language(text: str, language: str) -> None:
    assert KEYWORDS.find(text, language)
    assert KEYWORDS.find(unicodedata.normalize("NFD", text), language)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ＴＯＤＯ　ｌｉｓｔ", "todo list"),
        ("TODO-list", "todo list"),
        ("TODO_LIST", "todo list"),
        ("to\u2011do", "to-do"),
        ("to\u2013do", "to-do"),
        ("to\u00addo", "todo"),
        ("to\u200bdo", "todo"),
        ("task\n  list", "task list"),
        ("TASK LİST", "task list"),
        ("task lıst", "task list"),
    ],
)
def test_forms_of_writing_match_as_the_plain_form_does(text: str, plain: str) -> None:
    assert KEYWORDS.find(plain, "en-US")
    assert KEYWORDS.find(text, "en-US")


def test_decomposed_letters_match_as_composed_ones_do() -> None:
    keywords = Keywords({"en-US": LanguageWords(("calendar",)), "pt-BR": LanguageWords(("configuração",))})
    decomposed = unicodedata.normalize("NFD", "Abrir a Configuração!")
    assert decomposed != "Abrir a Configuração!"
    assert keywords.find(decomposed, "pt") == "configuração"


def test_each_keyword_counts_in_its_own_language_only() -> None:
    assert KEYWORDS.find("a agenda de hoje", "pt-BR")
    assert KEYWORDS.find("the hidden agenda of it", "en-US") is None
    assert KEYWORDS.find("the hidden agenda of it", "xx") is None


@given(st.text())
def test_a_comparable_text_stays_as_it_is(text: str) -> None:
    once = comparable(text)
    assert comparable(once) == once


@given(st.text(), st.text())
def test_a_keyword_between_spaces_is_always_found(before: str, after: str) -> None:
    assert KEYWORDS.find(f"{before} task list {after}", "de")
