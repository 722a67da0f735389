"""What every store of the language models that users chose promises."""

import pytest

from tertulia.domain.language_models import LlmChoice
from tertulia.ports.accounts import LlmChoiceStore
from tests.contract.conftest import Stores

CHOICE = LlmChoice(
    provider="openai",
    base_url="https://api.openai.com/v1",
    model="gpt-4.1-mini",
    max_context_tokens=1_000_000,
    temperature=0.25,
    api_key="sk-secret",
)


@pytest.fixture
def choices(stores: Stores) -> LlmChoiceStore:
    return stores.llm_choices


async def test_a_choice_comes_back_whole_for_its_user_alone(choices: LlmChoiceStore) -> None:
    await choices.put("ana", CHOICE)
    assert await choices.find("ana") == CHOICE
    assert await choices.find("ben") is None


async def test_the_last_choice_counts_and_can_be_forgotten(choices: LlmChoiceStore) -> None:
    await choices.put("ana", CHOICE)
    await choices.put("ana", LlmChoice(provider="groq"))
    assert await choices.find("ana") == LlmChoice(provider="groq")
    await choices.remove("ana")
    await choices.remove("ana")
    assert await choices.find("ana") is None


async def test_with_a_user_their_choice_and_its_key_are_forgotten(choices: LlmChoiceStore, stores: Stores) -> None:
    await stores.users.add("ana")
    await choices.put("ana", CHOICE)
    await stores.users.remove("ana")
    assert await choices.find("ana") is None


def test_a_key_is_in_no_text_about_a_choice() -> None:
    assert "sk-secret" not in repr(CHOICE)
