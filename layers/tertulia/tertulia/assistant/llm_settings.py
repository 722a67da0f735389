"""How the language models that users choose are kept and built."""

from typing import TYPE_CHECKING

from pydantic import SecretStr

from tertulia.assistant.models import Place, model_at
from tertulia.domain.language_models import COMPATIBLE, EMBEDDED, LlmChoice, vendors
from tertulia.ports.accounts import LlmChoiceStore
from tertulia.usecases.lifecycle import close
from tertulia.usecases.llm_settings import ChosenAnswer, LlmSettings, OwnAnswer

if TYPE_CHECKING:
    from tertulia.assistant import Assistant


def choices(parts: "Assistant") -> LlmChoiceStore:
    """Return where choices are kept."""
    return parts.stores.llm_choices


def llm_settings(parts: "Assistant") -> LlmSettings:
    """Build what keeps choices, by what this deployment has to choose from."""
    return LlmSettings(
        choices=parts.llm_choices,
        wishes=parts.wishes,
        presets=presets(parts),
        takes_private=parts.settings.private_model_servers,
    )


def presets(parts: "Assistant") -> dict[str, LlmChoice]:
    """Return what can be chosen: what answers usually first, then the other vendors."""
    servers = parts.chat_servers
    found: dict[str, LlmChoice] = {}
    for word in dict.fromkeys((*servers.providers, *vendors())):
        if word == EMBEDDED:
            if not parts.is_in_the_cloud:
                found[word] = LlmChoice(provider=word)
            continue
        place = servers.place(word)
        if word == COMPATIBLE and not place.url:
            continue
        found[word] = LlmChoice(
            provider=word,
            base_url=place.url,
            model=place.model,
            max_context_tokens=vendors()[word].max_context_tokens,
            temperature=parts.settings.llm_temperature,
        )
    return found


def chosen_answer(parts: "Assistant") -> ChosenAnswer:
    """Build the answer that asks the model which its user chose."""
    return ChosenAnswer(parts.answer, parts.wishes, parts.llm_choices, lambda choice: _own_answer(parts, choice))


def key_is_set(parts: "Assistant", choice: LlmChoice) -> bool:
    """Whether there is a key for a choice: one's own, or the deployment's at its own address."""
    return _key(parts, choice) is not None


def _own_answer(parts: "Assistant", choice: LlmChoice) -> OwnAnswer:
    from tertulia.assistant.turns import graph_answer

    if choice.provider == EMBEDDED:
        model = parts.local.chat_model
        return OwnAnswer(answer=graph_answer(parts, model, choice.temperature), close=_nothing)
    ours = parts.chat_servers.place(choice.provider)
    place = Place(
        provider=choice.provider,
        url=choice.base_url,
        model=choice.model,
        key=_key(parts, choice),
        setting="the model of the user",
        only_public=choice.base_url != ours.url and not parts.settings.private_model_servers,
    )
    hosted = model_at(parts, place)
    return OwnAnswer(answer=graph_answer(parts, hosted, choice.temperature), close=lambda: close((hosted,)))


def _key(parts: "Assistant", choice: LlmChoice) -> SecretStr | None:
    if choice.api_key:
        return SecretStr(choice.api_key)
    if choice.provider == EMBEDDED:
        return None
    ours = parts.chat_servers.place(choice.provider)
    # The deployment's key goes nowhere but to the deployment's own address.
    return ours.key if choice.base_url == ours.url else None


async def _nothing() -> None:
    """Leave the model on this machine to others."""
