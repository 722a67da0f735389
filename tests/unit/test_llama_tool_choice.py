"""Tool choice by form: the guard in all languages, the examples, the form and the reading of the answer."""

import json

import pytest

from tertulia.adapters.embedded.clock import SystemClock
from tertulia.adapters.embedded.tool_choice import ToolChoice, shipped_examples
from tertulia.domain.prompts import ToolSpec
from tertulia.tools.add_todo import AddTodo
from tertulia.tools.calculator import Calculator
from tertulia.tools.complete_todo import CompleteTodo
from tertulia.tools.current_time import CurrentTime
from tertulia.tools.search_conversations import SearchConversations
from tertulia.tools.search_memory import SearchMemory
from tertulia.tools.web_search import SearchWeb
from tests.conftest import MakeAssistant

MOODS = ToolSpec(name="set_mood", description="Set the mood.", parameters={"type": "object", "properties": {}})


def choice(*tools: ToolSpec) -> ToolChoice:
    return ToolChoice(tools or (Calculator().spec, CurrentTime(SystemClock()).spec), shipped_examples())


@pytest.mark.parametrize(
    "text",
    [
        "What is 2+2?",
        "What's fifteen percent of two hundred?",
        "Was ist siebzehn mal drei?",
        "¿Cuánto es la mitad de doce?",
        "Combien font trois fois quatre ?",
        "Quanto é sete vezes oito?",
        "Сколько будет семь умножить на восемь?",
        "三加五等于多少?",
        "七掛ける八は？",
        "삼 더하기 오는 얼마야?",
        "What time is it?",
        "WHAT DAY IS TODAY?",
        "Wie spät ist es?",
        "¿Qué hora es?",
        "Quelle heure est-il ?",
        "Que horas são?",
        "Который час?",
        "现在几点?",
        "現在幾點?",
        "今日は何曜日ですか",
        "지금 몇 시야?",
    ],
)
def test_whatever_could_want_a_tool_passes_the_guard(text: str) -> None:
    assert choice().is_possible(text)


@pytest.mark.parametrize(
    "text", ["Why is the sky blue?", "Erzähl mir einen Witz.", "Who wrote Hamlet?", "Tu aimes la mer ?", "你好", "안녕"]
)
def test_what_no_tool_can_help_does_not_pass_the_guard(text: str) -> None:
    assert not choice().is_possible(text)


def test_a_tool_that_no_hints_are_known_for_is_always_possible() -> None:
    assert choice(Calculator().spec, MOODS).is_possible("Why is the sky blue?")


def test_every_example_passes_its_own_guard_and_fits_its_tool(make_assistant: MakeAssistant) -> None:
    for spec in (tool.spec for tool in make_assistant().tools if tool.spec.name in shipped_examples().tools):
        examples = shipped_examples().tools[spec.name]
        for question in examples.questions:
            assert choice(spec).is_possible(question)
            assert question in [message["content"] for message in choice(spec).messages(question)]


def test_every_tool_that_everybody_has_has_examples(make_assistant: MakeAssistant) -> None:
    assert {tool.spec.name for tool in make_assistant().tools} <= set(shipped_examples().tools)


@pytest.mark.parametrize(
    ("tool", "texts"),
    [
        (AddTodo.spec, ["Put eggs on my list", "Setz Eier auf die Einkaufsliste", "Añade huevos a mi lista", "Adicione ovos à minha lista", "Ajoute des œufs à ma liste", "Добавь яйца в список", "把鸡蛋加到清单里", "卵をリストに追加して", "할 일에 달걀 추가해줘"]),
        (CompleteTodo.spec, ["I have done the dishes", "Hak das ab: abgehakt", "Ya está hecho", "完成了洗碗"]),
        (SearchWeb([]).spec, ["Search for trains", "Wie wird das Wetter?", "Busca un hotel", "Pesquise voos", "Cherche un hôtel", "Найди отель", "查一下天气", "ホテルを検索して", "호텔 검색해줘"]),
        (SearchConversations.spec, ["What did we talk about?", "Worüber haben wir gesprochen?", "¿De qué hablamos?", "上次我们聊了什么"]),
        (SearchMemory.spec, ["Do you remember my sister?", "Erinnerst du dich?", "¿Recuerdas?", "你还记得吗"]),
    ],
)  # fmt: skip
def test_the_guard_lets_through_what_wants_the_tool_in_any_language(tool: ToolSpec, texts: list[str]) -> None:
    assert [text for text in texts if not choice(tool).is_possible(text)] == []


def test_only_examples_of_the_tools_at_hand_are_shown() -> None:
    shown = json.dumps(choice(MOODS).messages("Hi"))

    assert "calculator" not in shown
    assert "set_mood" in shown
    assert "none" in shown


def test_an_example_that_no_longer_fits_its_tool_is_left_out() -> None:
    renamed = ToolSpec(
        name="calculator",
        description="Work out.",
        parameters={"type": "object", "properties": {"formula": {"type": "string"}}, "required": ["formula"]},
    )

    assert "expression" not in json.dumps(choice(renamed).messages("Hi"))


def test_the_beginning_is_the_same_for_every_text_so_that_it_can_be_kept() -> None:
    assert choice().messages("a")[:-1] == choice().messages("b")[:-1]


def test_what_all_texts_have_in_common_comes_first_and_what_a_text_wants_besides_last(
    make_assistant: MakeAssistant,
) -> None:
    everything = choice(*(tool.spec for tool in make_assistant().tools))
    plain, wanting = everything.messages("What is 2+2?"), everything.messages("What is 2+2 on my list?")

    assert wanting[: len(plain) - 1] == plain[:-1]
    assert "add_todo" in json.dumps(wanting)
    assert "web_search" not in json.dumps(wanting)
    assert sum(len(message["content"]) for message in wanting) < 3_500


def test_the_form_allows_what_the_text_could_want_alone(make_assistant: MakeAssistant) -> None:
    everything = choice(*(tool.spec for tool in make_assistant().tools))
    schema = everything.response_format("Search the web")["json_schema"]["schema"]

    assert [form["properties"]["tool"]["const"] for form in schema["anyOf"]] == [
        "calculator",
        "current_time",
        "web_search",
        "none",
    ]


def test_the_form_allows_each_tool_and_none() -> None:
    forms = choice().response_format("Hi")["json_schema"]["schema"]["anyOf"]

    assert [form["properties"]["tool"]["const"] for form in forms] == ["calculator", "current_time", "none"]
    assert forms[0]["properties"]["arguments"] == Calculator().spec.parameters


def test_a_chosen_tool_becomes_a_call_with_an_id_of_its_own() -> None:
    answer = '{"tool": "calculator", "arguments": {"expression": "½ × 4"}}'
    first, second = choice().call_in(answer), choice().call_in(answer)

    assert first
    assert second
    assert json.loads(first.arguments) == {"expression": "½ × 4"}
    assert first.id != second.id


@pytest.mark.parametrize(
    "answer",
    [
        "",
        '{"tool": "none"}',
        '{"tool": "calculator"}',
        '{"tool": "calculator", "arguments": "2"}',
        '{"tool": ["x"]}',
        '"x"',
    ],
)
def test_anything_else_is_no_call(answer: str) -> None:
    assert choice().call_in(answer) is None
