"""Scenarios: data in ten languages, told to the model, and refused where nobody knows them."""

import pytest

from tertulia.domain.errors import InvalidValue, KeyReused
from tertulia.domain.languages import ENGLISH, LANGUAGES
from tertulia.domain.prompts import Json, ToolCall
from tertulia.domain.replies import ToolReturned
from tertulia.domain.scenarios import scenario_from, scenarios
from tertulia.domain.surfaces import Route
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedClassifier, ScriptedModel
from tests.turns import USER, done_of, events_of, request

TEXT = {"name": "Debate", "description": "Argues the other side.", "prompt": "Argue."}


@pytest.mark.parametrize("language", [tag for tag in LANGUAGES if tag != ENGLISH])
def test_every_language_has_every_scenario_in_its_own_words(language: str) -> None:
    english, here = scenarios(ENGLISH), scenarios(language)
    assert list(here) == list(english)
    for name, scenario in here.items():
        assert scenario.description != english[name].description
        assert bool(scenario.prompt) == bool(english[name].prompt)
        assert scenario.prompt == scenario.prompt.strip()
        assert "\n" not in scenario.prompt


def test_the_general_scenario_adds_nothing_and_learning_asks_one_question() -> None:
    assert scenarios(ENGLISH)["general"].prompt == ""
    assert "exactly one short question" in scenarios("en-GB")["learning"].prompt


def test_a_language_that_a_scenario_lacks_gets_english() -> None:
    assert scenarios("it") == scenarios(ENGLISH)
    read = scenario_from("debate.json", {ENGLISH: TEXT})
    assert read.keys() == {ENGLISH}
    assert read[ENGLISH].prompt == "Argue."


@pytest.mark.parametrize(
    ("texts", "fault"),
    [
        ([], "no object"),
        ({"de": TEXT}, "no object with en-US"),
        ({ENGLISH: TEXT, "tlh": TEXT}, "tlh"),
        ({ENGLISH: {"name": "Debate"}}, "needs name, description and prompt"),
        ({ENGLISH: TEXT | {"colour": "red"}}, "nothing else"),
        ({ENGLISH: TEXT | {"prompt": None}}, "needs texts"),
        ({ENGLISH: TEXT | {"name": ""}}, "say something"),
        ({ENGLISH: TEXT, "tools": "calculator"}, "tools needs to be a list"),
        ({ENGLISH: TEXT, "tools": [""]}, "tools needs to be a list"),
        ({ENGLISH: TEXT, "tools": [1]}, "tools needs to be a list"),
    ],
)
def test_a_file_that_is_not_a_scenario_says_what_is_wrong(texts: Json, fault: str) -> None:
    with pytest.raises(ValueError, match=f"debate.json: .*{fault}"):
        scenario_from("debate.json", texts)


async def test_the_scenario_reaches_the_model_in_the_language_of_the_turn(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    assistant = make_assistant(chat_model=model)
    await done_of(assistant, request("Was ist ein Atom?", language="de", scenario="learning"))
    assert scenarios("de")["learning"].prompt in model.prompts[0].messages[0].text


@pytest.fixture
def exam(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a scenario that allows the clock alone."""
    texts = scenario_from("exam.json", {ENGLISH: TEXT, "tools": ["current_time"]})
    monkeypatch.setattr(
        "tertulia.domain.scenarios._all_scenarios",
        lambda: {"general": scenario_from("g", {ENGLISH: TEXT}), "exam": texts},
    )


async def test_a_scenario_offers_and_runs_the_tools_that_it_allows_alone(
    make_assistant: MakeAssistant, exam: None
) -> None:
    calls = [
        ToolCall(id="c1", name="calculator", arguments='{"expression": "6*7"}'),
        ToolCall(id="c2", name="current_time", arguments="{}"),
    ]
    model = ScriptedModel([calls, ["No calculating today."]])
    assistant = make_assistant(chat_model=model, classifier=ScriptedClassifier(Route.CONTEXT))

    events = await events_of(assistant, request("How much is 6*7?", scenario="exam"))

    returned = {event.tool: event for event in events if isinstance(event, ToolReturned)}
    assert (returned["calculator"].ok, returned["current_time"].ok) == (False, True)
    assert "42" not in returned["calculator"].result
    assert [spec.name for spec in model.tools[0]] == ["current_time"]
    assert "calculator" not in model.prompts[0].messages[0].text


async def test_other_scenarios_and_none_allow_all(make_assistant: MakeAssistant, exam: None) -> None:
    model = ScriptedModel()
    assistant = make_assistant(chat_model=model, classifier=ScriptedClassifier(Route.CONTEXT))

    for scenario in (None, "general"):
        await done_of(assistant, request("Hi", scenario=scenario))

    everything = {tool.spec.name for tool in assistant.tools}
    assert [{spec.name for spec in specs} for specs in model.tools] == [everything] * 2


async def test_an_unknown_scenario_is_refused_before_anything_begins(make_assistant: MakeAssistant) -> None:
    model = ScriptedModel()
    assistant = make_assistant(chat_model=model)
    for name in ("opera", "", "../general", "en-US"):
        with pytest.raises(InvalidValue, match="Known are: general, learning"):
            await assistant.turns.take(request("Hi", scenario=name, client_message_id="k"))
    assert not model.prompts
    assert (await assistant.conversations.page(USER)).items == ()
    assert (await done_of(assistant, request("Hi", client_message_id="k"))).response == "Hello there."


async def test_the_same_key_in_another_scenario_is_another_question(make_assistant: MakeAssistant) -> None:
    assistant = make_assistant()
    await done_of(assistant, request("Hi", scenario="learning", client_message_id="k"))
    with pytest.raises(KeyReused):
        await assistant.turns.take(request("Hi", scenario="general", client_message_id="k"))
