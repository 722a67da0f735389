"""Every setting, read once: the only reader of the environment.

A setting is read as `TERTULIA_<NAME>`, then under its own well-known name, then, for those the photo assistant had,
as `EVATAR_<NAME>`. Empty means unset. No `.env` file is read: what runs is what the shell shows.
"""

import json
import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import (
    AliasChoices,
    AliasGenerator,
    Field,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticUseDefault
from pydantic_settings import BaseSettings, SettingsConfigDict

from tertulia.domain.errors import TertuliaError
from tertulia.domain.prices import Price, PriceTable
from tertulia.domain.surfaces import SCREEN, SPOKEN, Surface
from tertulia.variables import (
    PREFIX,
    Count,
    Days,
    Dollars,
    Flag,
    Folder,
    Hosts,
    Language,
    Lower,
    Origins,
    Pool,
    Port,
    Providers,
    Seconds,
    Secret,
    Temperature,
    Text,
    Url,
    Voice,
    Whole,
    Words,
    matches,
    names_of,
    number,
    one_of,
    whole,
)


class SettingsError(TertuliaError):
    """A variable holds what its setting does not accept."""

    code = "settings"


def calm_native_threads() -> None:
    """Keep OpenMP threads from spinning; must run before a native library is imported.

    Without it, local models fall to a hundredth of their speed as soon as another program is busy.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")


def quiet_mem0(folder: Path) -> None:
    """Keep Mem0's SDK from reporting to its makers and from writing to the home folder; must run before its import."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder)


def _home(variable: str, fallback: str) -> Path:
    wish = Path(os.environ.get(variable) or "")
    return (wish if wish.is_absolute() else Path.home() / fallback) / "tertulia"


class Settings(BaseSettings):
    """All settings with their defaults; `docs/constants.md` explains each."""

    model_config = SettingsConfigDict(
        frozen=True,
        env_prefix=PREFIX,
        env_ignore_empty=True,
        validate_by_name=True,
        # A validated empty default would be taken as unset again, without end.
        validate_default=False,
        hide_input_in_errors=True,
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(*names_of(name))),
    )

    profile: Annotated[Literal["embedded", "aws"], Lower, one_of("embedded", "aws")] = "embedded"
    host: Annotated[str, matches(r"[A-Za-z0-9.:_-]+"), Field(description="a host name or an address")] = "127.0.0.1"
    port: Port = 8000
    allowed_hosts: Hosts = ()
    mqtt_port: Port = 1883
    data_dir: Folder = Field(default_factory=lambda: _home("XDG_DATA_HOME", ".local/share"))
    models_dir: Folder = Field(default_factory=lambda: _home("XDG_CACHE_HOME", ".cache") / "models")
    table_name: Text = "tertulia"
    bucket_name: Text = "tertulia"
    secrets_path: Text | None = None
    user_pool: Pool = None
    user_pool_client: Text | None = None
    streaming: Flag = False
    after_turn_arn: Text | None = None
    recording_arn: Text | None = None
    reminders_group: Text | None = None
    reminders_bus: Text | None = None
    reminders_role: Text | None = None
    api_token: Secret = None
    cors_origins: Origins = ("http://localhost:3000", "http://localhost:5173", "http://localhost:8421")
    user_id: Text = "user-1"
    debug: str = ""
    tool_debug: Flag = False

    agent_history_limit: Annotated[int, whole(2, 200)] = SPOKEN.history_messages
    max_agent_iterations: Annotated[int, whole(1, 50)] = SPOKEN.model_calls
    agent_max_rounds: Annotated[int, whole(1, 50)] = SCREEN.model_calls
    recall_seconds: Annotated[float, number(0, 60)] = 0.15
    model_seconds: Seconds = 60.0
    turn_seconds: Seconds = 120.0
    cloud_seconds: Seconds = 25.0
    tool_seconds: Seconds = 30.0
    web_search_seconds: Seconds = 15.0
    notion_seconds: Seconds = 15.0
    turns_a_minute: Count = 60
    generations_a_minute: Count = 10
    device_turns_a_minute: Count = 30
    running_turns: Count = 4
    daily_spend_usd: Dollars = None
    user_daily_spend_usd: Dollars = None

    local_llm: Annotated[Literal["auto", "1.5b", "0.5b"], Lower, one_of("auto", "1.5b", "0.5b")] = "auto"
    whisper: Annotated[Literal["auto", "base", "tiny.en"], Lower, one_of("auto", "base", "tiny.en")] = "auto"
    local_voice: Annotated[Literal["auto", "kokoro", "piper"], Lower, one_of("auto", "kokoro", "piper")] = "auto"
    llm_temperature: Temperature = 0.7
    llm_max_tokens: Annotated[int, whole(1, 131_072)] = 2048
    llm_top_p: Annotated[float, number(0, 1)] = 1.0
    stt_prompt: str = ""
    stt_language: Language = None
    tts_voice: Voice = "autumn"
    embedding_model: Annotated[Literal["all-MiniLM-L6-v2"], Field(description="all-MiniLM-L6-v2")] = "all-MiniLM-L6-v2"
    embedding_dim: Annotated[Literal[384], Whole, Field(description="384")] = 384

    groq_api_key: Secret = None
    groq_base_url: Url = None
    groq_llm_model: Text = "qwen/qwen3.6-27b"
    groq_agent_model: Text = "openai/gpt-oss-20b"
    groq_stt_model: Text = "whisper-large-v3"
    groq_tts_model: Text = "canopylabs/orpheus-v1-english"
    openai_api_key: Secret = None
    openai_base_url: Url = None
    openai_model: Text = "gpt-4.1-mini"
    anthropic_api_key: Secret = None
    anthropic_base_url: Url = None
    anthropic_model: Text = "claude-haiku-4-5"
    google_api_key: Secret = None
    google_base_url: Url = None
    google_model: Text = "gemini-2.5-flash"
    deepseek_api_key: Secret = None
    deepseek_base_url: Url = None
    deepseek_model: Text = "deepseek-chat"
    llm_api_key: Secret = None
    llm_base_url: Url = None
    llm_model: Text | None = None
    llm_providers: Providers = ()
    private_model_servers: Flag = False

    mem0_api_key: Secret = None
    mem0_base_url: Url = None
    mem0_user_id: Text = "user-1"
    pinecone_api_key: Secret = None
    pinecone_base_url: Url = None
    pinecone_index_name: Text = "conversations"
    pinecone_cloud: Text = "aws"
    pinecone_region: Text = "us-east-1"
    min_turns: Count = 2
    memory_db_path: Folder = Field(default_factory=lambda data: data["data_dir"] / "memory.db")
    memory_retention_days: Annotated[int, whole(1, 3650)] = 30
    retention_days: Days = None

    tavily_api_key: Secret = None
    tavily_base_url: Url = None
    brave_api_key: Secret = None
    brave_base_url: Url = None
    notion_api_key: Secret = None
    notion_base_url: Url = None
    notion_database_id: Text | None = None
    composio_api_key: Secret = None
    composio_base_url: Url = None
    composio_toolkits: Words = ("github",)
    mcp_tools_enabled: Flag = True
    mcp_server_path: Annotated[Path, Field(description="a path")] = Path("mcp-server")
    node_red_url: Url = None
    node_red_token: Secret = None

    clip_ble_address: Text | None = None
    clip_ble_name: Text = "Clip"
    clip_record_mode: Text = "enhanced"
    clip_status_interval: Seconds = 5.0
    clip_download_timeout: Seconds = 300.0
    clip_max_failed_artifacts: Count = 5

    database_url: SecretStr | None = None
    supabase_url: SecretStr | None = None
    supabase_key: SecretStr | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _blank_is_unset(cls, value: object) -> object:
        if isinstance(value, str):
            value = value.strip()
            if not value:
                raise PydanticUseDefault
        return value

    @model_validator(mode="wrap")
    @classmethod
    def _explained(cls, values: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(values)
        except ValidationError as error:
            # Not chained: the cause holds the value, which may be a secret.
            raise SettingsError(_complaint(cls, str(error.errors()[0]["loc"][0]))) from None

    @property
    def prices(self) -> PriceTable:
        """What vendors charge, from the price file beside this module."""
        listed = json.loads(files("tertulia").joinpath("prices.json").read_text("utf-8"))["models"]
        return PriceTable(MappingProxyType({model: Price(**price) for model, price in listed.items()}))

    @property
    def spoken(self) -> Surface:
        """The spoken surface, with the numbers set here."""
        return replace(SPOKEN, history_messages=self.agent_history_limit, model_calls=self.max_agent_iterations)

    @property
    def screen(self) -> Surface:
        """The screen surface, with the numbers set here."""
        return replace(SCREEN, history_messages=self.agent_history_limit, model_calls=self.agent_max_rounds)

    @property
    def loggers(self) -> tuple[str, ...]:
        """The loggers that `DEBUG` raises; anything else in it belongs to other programs."""
        wishes = (wish.split(":")[0] for wish in self.debug.replace(",", " ").split() if wish.endswith(":*"))
        return tuple(wish for wish in wishes if wish in {"langchain", "mcp"})

    @property
    def notices(self) -> tuple[str, ...]:
        """Lines to show at the start: what is set and not used."""
        unused = [names_of(name)[1] for name in ("database_url", "supabase_url", "supabase_key") if getattr(self, name)]
        lines = (
            [f"{', '.join(unused)}: set but not used; everything is kept in {self.memory_db_path}."] if unused else []
        )
        if bool(self.notion_api_key) != bool(self.notion_database_id):
            lines.append("NOTION_API_KEY and NOTION_DATABASE_ID go together; to-dos stay in Tertulia's own list.")
        return (*lines, *(f"{name} is not a setting of Tertulia; see docs/constants.md." for name in _unknown()))


def _complaint(settings: type[Settings], where: str) -> str:
    setting = _setting_of(where)
    accepts = settings.model_fields[setting].description or "something else"
    return f"{_variable_in_use(setting)} must be {accepts}."


def _setting_of(where: str) -> str:
    """Pydantic names a field or one of its aliases."""
    known = {name: setting for setting in Settings.model_fields for name in (*names_of(setting), setting)}
    return known[where]


def _variable_in_use(setting: str) -> str:
    names = names_of(setting)
    return next((name for name in names if os.environ.get(name, "").strip()), names[0])


def _unknown() -> list[str]:
    known = {name for setting in Settings.model_fields for name in names_of(setting)}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
