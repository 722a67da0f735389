"""Fixtures: vendors of chat models and our models behind them, each as the contract wants it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from tertulia.adapters.anthropic import VERSION, AnthropicChat
from tertulia.adapters.fallback import FallbackChat
from tertulia.adapters.model_failures import ModelChoice
from tertulia.adapters.model_server import ModelServer, ServerAddress
from tertulia.adapters.openai_compatible import Manners, OpenAiCompatibleChat
from tertulia.domain.errors import ModelDown
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.clock import FakeClock
from tests.fakes.scripted import ScriptedModel
from tests.fakes.vendor import FakeGroq, serving

OPENAI_KEY, ANTHROPIC_KEY = "sk-test", "sk-ant-test"
OPENAI_CHOICE = ModelChoice(name="gpt-4.1-mini", setting="OPENAI_MODEL", vendor="OpenAI", key_setting="OPENAI_API_KEY")
ANTHROPIC_CHOICE = ModelChoice(
    name="claude-haiku-4-5", setting="ANTHROPIC_MODEL", vendor="Anthropic", key_setting="ANTHROPIC_API_KEY"
)


def openai_server(address: str, clock: FakeClock, key: str = OPENAI_KEY) -> ModelServer:
    """Speak with the small server as with OpenAI."""
    secrets = {"Authorization": SecretStr(f"Bearer {key}")}
    return ModelServer(ServerAddress(url=f"{address}/openai/v1", secrets=secrets), clock)


def anthropic_server(address: str, clock: FakeClock, key: str = ANTHROPIC_KEY) -> ModelServer:
    """Speak with the small server as with Anthropic."""
    address_of_all = ServerAddress(
        url=address, secrets={"x-api-key": SecretStr(key)}, headers={"anthropic-version": VERSION}
    )
    return ModelServer(address_of_all, clock)


@pytest.fixture
async def openai(vendor_server: tuple[FakeGroq, str], clock: FakeClock) -> AsyncIterator[OpenAiCompatibleChat]:
    """Give OpenAI's model."""
    vendor_server[0].forget()
    manners = Manners(most_tokens="max_completion_tokens", in_parts=True)
    model = OpenAiCompatibleChat(openai_server(vendor_server[1], clock), OPENAI_CHOICE, manners)
    yield model
    await model.close()


@pytest.fixture(scope="session")
def anthropic_vendor() -> Iterator[tuple[FakeAnthropic, str]]:
    """Run one server for all tests; give it with its address."""
    vendor = FakeAnthropic()
    with serving(vendor) as address:
        yield vendor, address


@pytest.fixture
async def anthropic(anthropic_vendor: tuple[FakeAnthropic, str], clock: FakeClock) -> AsyncIterator[AnthropicChat]:
    """Give Anthropic's model, whose vendor has forgotten the test before."""
    vendor, address = anthropic_vendor
    vendor.chats, vendor.asked, vendor.left = [], [], 0
    model = AnthropicChat(anthropic_server(address, clock), ANTHROPIC_CHOICE)
    yield model
    await model.close()


@pytest.fixture
def falling_back(openai: OpenAiCompatibleChat, clock: FakeClock) -> FallbackChat:
    """Give OpenAI's model with one behind it that fails too."""
    return FallbackChat((openai, ScriptedModel([(ModelDown(),)])), clock)
