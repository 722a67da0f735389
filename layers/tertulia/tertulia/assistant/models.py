"""Whose language models answer: by the settings one after the other, or the one that a user chose."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tertulia.domain.errors import NotConfigured
from tertulia.domain.language_models import COMPATIBLE, EMBEDDED, vendors
from tertulia.ports import ChatModel

if TYPE_CHECKING:
    from tertulia.adapters.embedded.local_models import LocalModels
    from tertulia.adapters.groq.provider import GroqModels
    from tertulia.assistant import Assistant

_PATHS = {"google": "/v1beta/openai", "groq": "/openai/v1"}
"""Where these speak the OpenAI protocol; their settings name the root, as their own clients take it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """One model of one vendor, at one address, opened by one key."""

    provider: str
    url: str
    model: str
    key: SecretStr | None
    setting: str
    only_public: bool = False


class ChatServers:
    """The chat models that the settings name, each built once."""

    def __init__(self, parts: "Assistant") -> None:
        self._parts = parts

    @cached_property
    def providers(self) -> tuple[str, ...]:
        """Those that answer, in their order."""
        settings = self._parts.settings
        if settings.llm_providers:
            return tuple(dict.fromkeys(settings.llm_providers))
        found = tuple(word for word in vendors() if word != EMBEDDED and self.place(word).key is not None)
        server = (COMPATIBLE,) if settings.llm_base_url and settings.llm_model else ()
        return (*server, *(word for word in found if word != COMPATIBLE)) or (EMBEDDED,)

    def place(self, provider: str) -> Place:
        """Return where the settings have a vendor."""
        settings, vendor = self._parts.settings, vendors()[provider]
        prefix = "llm" if provider == COMPATIBLE else provider
        model = "groq_llm_model" if provider == "groq" else f"{prefix}_model"
        url = getattr(settings, f"{prefix}_base_url") or vendor.base_url
        if path := _PATHS.get(provider):
            url = url.removesuffix(path) + path
        return Place(
            provider=provider,
            url=url,
            model=getattr(settings, model) or "",
            key=getattr(settings, f"{prefix}_api_key"),
            setting=model.upper(),
        )

    @cached_property
    def hosted(self) -> dict[str, ChatModel]:
        """The models behind an address, Groq's apart."""
        apart = ("groq", EMBEDDED)
        return {word: self._built(word) for word in self.providers if word not in apart}

    def _built(self, word: str) -> ChatModel:
        place = self.place(word)
        if not place.url or not place.model:
            raise NotConfigured("The provider compatible needs LLM_BASE_URL and LLM_MODEL.")
        if place.key is None and word != COMPATIBLE:
            raise NotConfigured(f"The provider {word} needs {word.upper()}_API_KEY.")
        return model_at(self._parts, place)


def chat_servers(parts: "Assistant") -> ChatServers:
    """Build what knows the vendors of the settings."""
    return ChatServers(parts)


def chat_model(parts: "Assistant") -> ChatModel:
    """Build what writes the simple and persona answers."""
    return _one_after_another(parts, lambda own: own.chat_model)


def agent_model(parts: "Assistant") -> ChatModel:
    """Build what calls tools."""
    return _one_after_another(parts, lambda own: own.agent_model)


def model_at(parts: "Assistant", place: Place) -> ChatModel:
    """Build a model behind an address."""
    from tertulia.adapters.model_failures import ModelChoice
    from tertulia.adapters.model_server import ModelServer, ServerAddress

    choice = ModelChoice(
        name=place.model,
        setting=place.setting,
        vendor=vendors()[place.provider].name,
        key_setting=f"{'LLM' if place.provider == COMPATIBLE else place.provider.upper()}_API_KEY",
    )
    if place.provider == "anthropic":
        from tertulia.adapters.anthropic import VERSION, AnthropicChat

        headers = {"anthropic-version": VERSION}
        secrets = {"x-api-key": place.key} if place.key else {}
        address = ServerAddress(url=place.url, secrets=secrets, headers=headers, only_public=place.only_public)
        return AnthropicChat(ModelServer(address, parts.clock), choice)
    from tertulia.adapters.openai_compatible import Manners, OpenAiCompatibleChat

    secrets = {"Authorization": SecretStr(f"Bearer {place.key.get_secret_value()}")} if place.key else {}
    is_openai = place.provider == "openai"
    manners = Manners(
        most_tokens="max_completion_tokens" if is_openai else "max_tokens",
        in_parts=is_openai,
        # A server of one's own is mostly one machine with one graphics card.
        runs_side_by_side=place.provider != COMPATIBLE or parts.is_in_the_cloud,
    )
    address = ServerAddress(url=place.url, secrets=secrets, only_public=place.only_public)
    return OpenAiCompatibleChat(ModelServer(address, parts.clock), choice, manners)


def _one_after_another(parts: "Assistant", which: "Callable[[GroqModels | LocalModels], ChatModel]") -> ChatModel:
    servers = parts.chat_servers
    models = [
        servers.hosted[word] if word in servers.hosted else which(parts.local if word == EMBEDDED else parts.provider)
        for word in servers.providers
    ]
    if len(models) == 1:
        return models[0]
    from tertulia.adapters.fallback import FallbackChat

    return FallbackChat(models, parts.clock)
