"""The agent at work with real tools: vendors over HTTP, lists in a database, and what the model is shown of them."""

import json

import pytest
from pydantic import SecretStr

from tertulia.assistant import Assistant
from tertulia.domain.prompts import ToolCall
from tertulia.domain.replies import ToolReturned
from tertulia.domain.surfaces import Route
from tertulia.settings import Settings
from tests.conftest import MakeAssistant
from tests.fakes.notion import DATABASE, KEY, FakeNotion
from tests.fakes.scripted import ScriptedClassifier, ScriptedModel
from tests.fakes.web import FakeBrave, FakeTavily, Refusal
from tests.turns import events_of, request


@pytest.fixture
def keys(
    settings: Settings,
    web_servers: tuple[FakeTavily, str, FakeBrave, str],
    fake_tavily: FakeTavily,
    fake_brave: FakeBrave,
    notion_server: tuple[FakeNotion, str],
    fake_notion: FakeNotion,
) -> Settings:
    return settings.model_copy(
        update={
            "tavily_api_key": SecretStr("tvly-x"),
            "tavily_base_url": web_servers[1],
            "brave_api_key": SecretStr("brave-x"),
            "brave_base_url": web_servers[3],
            "notion_api_key": SecretStr(KEY),
            "notion_base_url": notion_server[1],
            "notion_database_id": DATABASE,
        }
    )


def calling(name: str, **arguments: object) -> ToolCall:
    return ToolCall(id=f"call_{name}", name=name, arguments=json.dumps(arguments))


async def asked(assistant: Assistant, text: str) -> ToolReturned:
    events = await events_of(assistant, request(text))
    [returned] = [event for event in events if isinstance(event, ToolReturned)]
    return returned


def agent(make: MakeAssistant, settings: Settings, call: ToolCall) -> tuple[Assistant, ScriptedModel]:
    model = ScriptedModel([[call], ["There you are."]])
    return make(settings, chat_model=model, classifier=ScriptedClassifier(Route.CONTEXT)), model


async def test_what_the_web_says_reaches_the_model_from_the_engine_that_could(
    make_assistant: MakeAssistant, keys: Settings, fake_tavily: FakeTavily, fake_brave: FakeBrave
) -> None:
    fake_tavily.says = [Refusal(status=432)]
    assistant, model = agent(make_assistant, keys, calling("web_search", query="how far is the moon"))

    returned = await asked(assistant, "Search the web: how far is the moon?")

    assert returned.ok
    assert (len(fake_tavily.queries), fake_brave.queries) == (1, ["how far is the moon"])
    assert "https://moon.example/" in model.prompts[1].messages[-1].text


async def test_a_spent_quota_reaches_the_model_as_a_failure(
    make_assistant: MakeAssistant, keys: Settings, fake_tavily: FakeTavily, fake_brave: FakeBrave
) -> None:
    fake_tavily.says, fake_brave.says = [Refusal(status=433)], [Refusal(status=402)]
    assistant, model = agent(make_assistant, keys, calling("web_search", query="moon"))

    assert not (await asked(assistant, "Search the web for the moon")).ok
    assert "quota of Tavily is used up" in model.prompts[1].messages[-1].text


async def test_a_to_do_goes_to_notion_where_that_is_set_up(
    make_assistant: MakeAssistant, keys: Settings, fake_notion: FakeNotion
) -> None:
    assistant, _ = agent(make_assistant, keys, calling("add_todo", title="Buy milk"))

    assert (await asked(assistant, "Put milk on my to-do list")).ok
    assert len(fake_notion.pages) == 1


async def test_a_to_do_goes_to_our_own_list_else_and_is_each_users_own(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    assistant, _ = agent(make_assistant, settings, calling("add_todo", title="Buy milk"))

    assert (await asked(assistant, "Put milk on my to-do list")).ok
    mine = await assistant.todos.list(request("").user)
    assert [todo.title for todo in mine] == ["Buy milk"]
    assert await assistant.todos.list("somebody-else") == []


async def test_a_tool_that_is_not_set_up_says_so_to_the_model_and_the_turn_goes_on(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    assistant, model = agent(make_assistant, settings, calling("web_search", query="moon"))

    assert not (await asked(assistant, "Search the web for the moon")).ok
    assert "not set up" in model.prompts[1].messages[-1].text
