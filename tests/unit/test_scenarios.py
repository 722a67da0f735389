"""Scenarios: data in ten languages, told to the model, and refused where nobody knows them."""

import pytest

from tertulia.domain.errors import InvalidValue, KeyReused
from tertulia.domain.languages import ENGLISH, LANGUAGES
from tertulia.domain.prompts import Json
from tertulia.domain.scenarios import scenario_from, scenarios
from tests.conftest import MakeAssistant
from tests.fakes.scripted import ScriptedModel
from tests.turns import USER, done_of, request

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
