"""The language model that answers the user's turns: theirs to choose; its key goes in and never comes out."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from tertulia.assistant.llm_settings import key_is_set
from tertulia.domain.errors import NotFound
from tertulia.domain.language_models import LlmChoice
from tertulia.entrypoints.http.context import Parts
from tertulia.entrypoints.http.documents import READING, problems
from tertulia.entrypoints.http.fields import Absent, Label
from tertulia.entrypoints.http.who import User

router = APIRouter(prefix="/api/config/llm", tags=["account"])


def _sendable(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("holds characters that no key has")
    return secret


Key = Annotated[
    Annotated[SecretStr, Field(max_length=512), AfterValidator(_sendable)] | None,
    Absent,
    Field(description="Of the vendor; kept for this address only, and never shown. Without it, the kept one stays."),
]


class LlmRequest(BaseModel):
    """A model to be asked from now on; without base_url or model, the vendor's usual one."""

    provider: Annotated[
        str, Field(max_length=32, description="One of the presets, or `compatible`.", examples=["openai"])
    ]
    base_url: Annotated[Annotated[str, Field(max_length=512)] | None, Absent] = None
    api_key: Key = None
    model: Label = None
    max_context_tokens: Annotated[Annotated[int, Field(ge=1024, le=10_000_000)] | None, Absent] = None
    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | None, Absent] = None


class LlmView(BaseModel):
    """The model that answers."""

    provider: str
    base_url: str
    api_key_set: bool
    model: str
    max_context_tokens: int
    temperature: float


class Preset(BaseModel):
    """A vendor's usual model."""

    provider: str
    base_url: str
    model: str
    max_context_tokens: int


class Presets(BaseModel):
    """What can be chosen by one word."""

    presets: dict[str, Preset]


class KeyRequest(BaseModel):
    """The key for a preset; none where the deployment has one."""

    api_key: Key = None


PresetInPath = Annotated[str, Path(alias="name", max_length=32)]


@router.get("", responses=READING)
async def shown(assistant: Parts, user: User) -> LlmView:
    """Return the model that answers the user's turns."""
    return _view(assistant, await assistant.llm_settings.shown(user))


@router.put("", responses=problems(401))
async def choose(fields: LlmRequest, assistant: Parts, user: User) -> LlmView:
    """Choose a model; with another address, the kept key is dropped."""
    usual = assistant.llm_settings.presets.get(fields.provider, LlmChoice(provider=fields.provider))
    choice = LlmChoice(
        provider=fields.provider,
        base_url=fields.base_url or "",
        model=fields.model or "",
        max_context_tokens=fields.max_context_tokens or usual.max_context_tokens,
        temperature=usual.temperature if fields.temperature is None else fields.temperature,
        api_key=fields.api_key.get_secret_value() if fields.api_key else "",
    )
    return _view(assistant, await assistant.llm_settings.choose(user, choice))


@router.delete("", status_code=204, responses=problems(401), response_class=Response)
async def forget(assistant: Parts, user: User) -> Response:
    """Return to the model of the deployment; the kept key is forgotten."""
    await assistant.llm_settings.forget(user)
    return Response(status_code=204)


@router.get("/presets", responses=READING)
async def presets(assistant: Parts, _: User) -> Presets:
    """List what can be chosen by one word."""
    listed = assistant.llm_settings.presets
    return Presets(presets={word: Preset(**_fields(choice)) for word, choice in listed.items()})


@router.post("/presets/{name}/apply", responses=READING)
async def apply(name: PresetInPath, fields: KeyRequest, assistant: Parts, user: User) -> LlmView:
    """Choose a vendor's usual model."""
    if name not in assistant.llm_settings.presets:
        raise NotFound
    return await choose(LlmRequest(provider=name, api_key=fields.api_key), assistant, user)


def _fields(choice: LlmChoice) -> dict[str, object]:
    return {name: value for name, value in asdict(choice).items() if name in Preset.model_fields}


def _view(assistant: Parts, choice: LlmChoice) -> LlmView:
    is_set = key_is_set(assistant, choice)
    return LlmView(**_fields(choice), temperature=choice.temperature, api_key_set=is_set)
