"""Variables: which names a setting is read from, and the types that say in words what they accept."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

PREFIX = "TERTULIA_"

_OURS = frozenset(
    {
        "profile",
        "host",
        "port",
        "allowed_hosts",
        "mqtt_port",
        "data_dir",
        "models_dir",
        "table_name",
        "bucket_name",
        "secrets_path",
        "user_pool",
        "user_pool_client",
        "streaming",
        "after_turn_arn",
        "recording_arn",
        "reminders_group",
        "reminders_bus",
        "reminders_role",
        "api_token",
        "cors_origins",
        "llm_providers",
        "private_model_servers",
        "local_llm",
        "whisper",
        "local_voice",
        "recall_seconds",
        "model_seconds",
        "turn_seconds",
        "cloud_seconds",
        "tool_seconds",
        "web_search_seconds",
        "notion_seconds",
        "turns_a_minute",
        "generations_a_minute",
        "device_turns_a_minute",
        "running_turns",
        "daily_spend_usd",
        "user_daily_spend_usd",
    }
)
"""Settings that only Tertulia has: they have no other name, since HOST or PORT mean other things elsewhere."""

_ALSO_EVATAR = frozenset(
    {
        "agent_history_limit",
        "max_agent_iterations",
        "agent_max_rounds",
        "min_turns",
        "openai_api_key",
        "anthropic_api_key",
        "google_api_key",
        "deepseek_api_key",
        "llm_base_url",
        "llm_api_key",
        "llm_model",
        "tavily_api_key",
        "brave_api_key",
        "memory_db_path",
        "memory_retention_days",
        "retention_days",
    }
)


def names_of(setting: str) -> tuple[str, ...]:
    """Return the variables a setting is read from, first wins."""
    name = setting.upper()
    if setting == "api_token":
        return (PREFIX + name, "EVATAR_API_KEY")
    own = () if setting in _OURS else (name,)
    return (PREFIX + name, *own, *([f"EVATAR_{name}"] if setting in _ALSO_EVATAR else []))


def whole(low: int, high: int) -> Any:
    """Take whole numbers in a range."""
    return Field(ge=low, le=high, description=f"a whole number from {low} to {high}")


def number(low: float, high: float) -> Any:
    """Take numbers in a range."""
    return Field(ge=low, le=high, description=f"a number from {low:g} to {high:g}")


def one_of(*choices: str) -> Any:
    """Say which words are taken; the type itself checks them."""
    return Field(description=f"one of {', '.join(choices)}")


def matches(pattern: str) -> AfterValidator:
    """Take texts that match as a whole."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError("does not match")
        return text

    return AfterValidator(check)


def _sendable(secret: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]+", secret.get_secret_value()):
        raise ValueError("cannot travel in a header")
    return secret


def words(value: object) -> object:
    """Split a list written with commas or spaces."""
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


Lower = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)

Words = Annotated[
    tuple[str, ...], NoDecode, BeforeValidator(words), Field(description="words with commas between them")
]
Providers = Annotated[
    tuple[Literal["compatible", "groq", "openai", "anthropic", "google", "deepseek", "embedded"], ...],
    NoDecode,
    BeforeValidator(words),
    Field(description="some of compatible, groq, openai, anthropic, google, deepseek, embedded, with commas between"),
]
Text = Annotated[str, Field(min_length=1, max_length=4096, description="text")]
Flag = Annotated[bool, Field(description="true or false")]
Secret = Annotated[Annotated[SecretStr, AfterValidator(_sendable)] | None, Field(description="a key without spaces")]
Url = Annotated[
    Annotated[str, matches(r"https?://[^\s/]\S*"), AfterValidator(lambda url: url.rstrip("/"))] | None,
    Field(description="an address that begins with http:// or https://"),
]
Pool = Annotated[
    Annotated[str, matches(r"[a-z]{2}(-[a-z]+)+-[0-9]_[A-Za-z0-9]+")] | None,
    Field(description="the id of a Cognito user pool, such as eu-central-1_AbCdEfGhI"),
]
Folder = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute()), Field(description="a path")]
Port = Annotated[int, whole(0, 65535)]
Count = Annotated[int, whole(1, 1000)]
Seconds = Annotated[float, number(0.01, 3600)]
Temperature = Annotated[float, number(0, 2)]
Whole = BeforeValidator(lambda value: int(value) if isinstance(value, str) else value)
Days = Annotated[
    Annotated[Literal[7, 14, 30, 90, 365], Whole] | None,
    Field(description="one of 7, 14, 30, 90, 365, or nothing to keep all"),
]
Dollars = Annotated[
    Annotated[float, Field(ge=0.01, le=1_000_000)] | None,
    Field(description="dollars, from 0.01 to 1,000,000, or nothing for no limit"),
]
Language = Annotated[
    Annotated[str, matches(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")] | None,
    Field(description="a language tag such as en or pt-BR, or nothing to detect it"),
]
Voice = Annotated[
    Literal["autumn", "diana", "hannah", "austin", "daniel", "troy"],
    Lower,
    one_of("autumn", "diana", "hannah", "austin", "daniel", "troy"),
]
Origins = Annotated[
    tuple[Annotated[str, matches(r"https?://[^\s/?#]+")], ...],
    NoDecode,
    BeforeValidator(words),
    Field(description="origins such as http://localhost:3000, with commas between them"),
]
Hosts = Annotated[
    tuple[Annotated[str, matches(r"[A-Za-z0-9.:\[\]_-]+")], ...],
    NoDecode,
    BeforeValidator(words),
    Field(description="host names such as tertulia.home, with commas between them"),
]
