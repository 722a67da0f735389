"""Whose models answer, by the settings; and receipts that add up when another one stands in."""

import pytest
from pydantic import SecretStr

from tertulia.adapters.anthropic import AnthropicChat
from tertulia.adapters.fallback import FallbackChat
from tertulia.adapters.groq.chat import GroqChat
from tertulia.adapters.openai_compatible import OpenAiCompatibleChat
from tertulia.assistant import Assistant
from tertulia.domain.errors import ModelDown, NotConfigured
from tertulia.domain.language_models import COMPATIBLE, EMBEDDED, vendors
from tertulia.domain.prompts import ToolCall
from tertulia.domain.surfaces import Route
from tertulia.settings import Settings, SettingsError
from tests.conftest import MakeAssistant
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedClassifier, ScriptedModel
from tests.fakes.vendor import Failure, FakeGroq
from tests.turns import done_of, request

KEY = SecretStr("sk-any")
HOSTED = ("openai", "anthropic", "google", "deepseek")


def with_keys(settings: Settings, *vendors_with: str, **others: object) -> Settings:
    keys = {f"{vendor}_api_key": KEY for vendor in vendors_with}
    return settings.model_copy(update={**keys, **others})


def test_without_any_key_the_model_on_this_machine_answers(settings: Settings) -> None:
    assert Assistant(settings).chat_servers.providers == (EMBEDDED,)


def test_groq_answers_where_its_key_is_alone(settings: Settings) -> None:
    assistant = Assistant(with_keys(settings, "groq"))
    assert isinstance(assistant.chat_model, GroqChat)
    assert (assistant.chat_model.name, assistant.agent_model.name) == ("qwen/qwen3.6-27b", "openai/gpt-oss-20b")


@pytest.mark.parametrize("vendor", HOSTED)
def test_each_vendor_answers_where_its_key_is_alone(settings: Settings, vendor: str) -> None:
    assistant = Assistant(with_keys(settings, vendor))
    kind = AnthropicChat if vendor == "anthropic" else OpenAiCompatibleChat
    assert isinstance(assistant.chat_model, kind)
    assert assistant.chat_model.name == vendors()[vendor].model
    assert assistant.agent_model is assistant.chat_model


def test_the_usual_models_are_those_of_the_settings(settings: Settings) -> None:
    servers = Assistant(settings).chat_servers
    for word in ("groq", *HOSTED):
        assert servers.place(word).model == vendors()[word].model
        assert servers.place(word).url == vendors()[word].base_url


def test_several_stand_in_for_one_another_groq_first_and_a_server_of_ones_own_before_all(settings: Settings) -> None:
    keys = with_keys(settings, "groq", *HOSTED)
    assert Assistant(keys).chat_servers.providers == ("groq", *HOSTED)
    own = keys.model_copy(update={"llm_base_url": "http://localhost:1/v1", "llm_model": "llama"})
    assistant = Assistant(own)
    assert assistant.chat_servers.providers == (COMPATIBLE, "groq", *HOSTED)
    assert isinstance(assistant.chat_model, FallbackChat)
    assert assistant.chat_model.name == "llama"


def test_a_wished_order_is_kept_and_a_missing_key_is_named(settings: Settings) -> None:
    wished = with_keys(settings, "groq", "openai", llm_providers=("openai", "groq"))
    assert Assistant(wished).chat_model.name == "gpt-4.1-mini"
    with pytest.raises(NotConfigured, match="ANTHROPIC_API_KEY"):
        _ = Assistant(with_keys(settings, llm_providers=("anthropic",))).chat_model
    with pytest.raises(NotConfigured, match="LLM_BASE_URL"):
        _ = Assistant(with_keys(settings, llm_providers=(COMPATIBLE,))).chat_model


def test_an_unknown_provider_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERTULIA_LLM_PROVIDERS", "groq, opena1")
    with pytest.raises(SettingsError, match="TERTULIA_LLM_PROVIDERS must be some of"):
        Settings()


@pytest.mark.parametrize(("vendor", "path"), [("google", "/v1beta/openai"), ("groq", "/openai/v1")])
def test_the_setting_of_an_address_names_its_root(settings: Settings, vendor: str, path: str) -> None:
    for address in ("https://example.org", f"https://example.org{path}"):
        place = Assistant(settings.model_copy(update={f"{vendor}_base_url": address})).chat_servers.place(vendor)
        assert place.url == f"https://example.org{path}"


async def test_a_turn_is_answered_by_who_stands_in_and_its_receipt_adds_up(
    vendor: FakeGroq, vendor_server: tuple[FakeGroq, str], settings: Settings, make_assistant: MakeAssistant
) -> None:
    vendor.chats = [Failure(status=401)]
    address = vendor_server[1]
    wished = settings.model_copy(
        update={
            "groq_api_key": SecretStr("gsk_any"),
            "groq_base_url": address,
            "openai_api_key": KEY,
            "openai_base_url": f"{address}/openai/v1",
        }
    )
    built = Assistant(wished)
    done = await done_of(make_assistant(wished, chat_model=built.chat_model), request("Hi"))
    assert [asked.body["model"] for asked in vendor.asked["chat"]] == ["qwen/qwen3.6-27b", "gpt-4.1-mini"]
    assert done.response == "Hello there."
    assert done.receipt.models["simple"] == "gpt-4.1-mini"
    assert done.receipt.degraded == ("fallback",)
    assert done.receipt.tokens == {"in": 11, "out": 7}
    assert done.receipt.cost_microdollars == 16  # 11 of 0.40 and 7 of 1.60 dollars a million, rounded up
    await built.close()


async def test_calls_of_different_models_in_one_turn_are_each_charged_as_their_own(
    make_assistant: MakeAssistant, settings: Settings
) -> None:
    call = ToolCall(id="c1", name="calculator", arguments='{"expression": "6*7"}')
    first = ScriptedModel([[call], [ModelDown()]], name="openai/gpt-oss-20b")
    second = ScriptedModel([["It is", " 42."]], name="gpt-4.1-mini")
    agent = FallbackChat((first, second), FakeClock())
    assistant = make_assistant(agent_model=agent, classifier=ScriptedClassifier(Route.CONTEXT))
    done = await done_of(assistant, request("What is 6 times 7?"))
    assert done.response == "It is 42."
    assert done.turn_id is not None
    sizes = [sum(len(message.text) for message in each.prompts[-1].messages) // 4 for each in (first, second)]
    asked = sum(len(message.text) for message in first.prompts[0].messages) // 4
    assert done.receipt.tokens == {"in": asked + sizes[1], "out": 3}
    exact = (asked * 0.075 + 1 * 0.3) + (sizes[1] * 0.4 + 2 * 1.6)
    assert exact <= done.receipt.cost_microdollars <= exact + 2
