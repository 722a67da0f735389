"""Settings: where they are read from, what they accept and what they say otherwise."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tertulia.domain.prices import Price, PriceTable, Usage
from tertulia.settings import Settings, SettingsError, calm_native_threads
from tertulia.variables import names_of


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_without_any_variable_everything_runs_offline_on_this_machine(tmp_path: Path) -> None:
    settings = Settings()
    assert (settings.profile, settings.host, settings.port) == ("embedded", "127.0.0.1", 8000)
    assert settings.data_dir == tmp_path / ".local/share/tertulia"
    assert settings.memory_db_path == settings.data_dir / "memory.db"
    assert settings.models_dir == tmp_path / ".cache/tertulia/models"
    assert settings.groq_api_key is None
    assert settings.notices == ()


def test_the_prefixed_name_wins_over_the_plain_one_and_that_over_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(reversed(names_of("agent_max_rounds")), start=5):
        monkeypatch.setenv(name, str(number))
        assert Settings().agent_max_rounds == number
    assert names_of("agent_max_rounds") == ("TERTULIA_AGENT_MAX_ROUNDS", "AGENT_MAX_ROUNDS", "EVATAR_AGENT_MAX_ROUNDS")


def test_names_that_mean_other_things_elsewhere_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "build-machine")
    monkeypatch.setenv("PORT", "1")
    monkeypatch.setenv("PROFILE", "work")
    assert Settings() == Settings(host="127.0.0.1", port=8000, profile="embedded")


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_variable_is_unset_and_leaves_the_next_name_its_turn(
    monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    monkeypatch.setenv("GROQ_LLM_MODEL", blank)
    monkeypatch.setenv("DEBUG", blank)
    assert Settings().groq_llm_model == "qwen/qwen3.6-27b"
    monkeypatch.setenv("TERTULIA_API_TOKEN", "")
    monkeypatch.setenv("EVATAR_API_KEY", "old-token")
    token = Settings().api_token
    assert token is not None
    assert token.get_secret_value() == "old-token"


def test_a_pasted_key_loses_its_line_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk_abc\n")
    key = Settings().groq_api_key
    assert key is not None
    assert key.get_secret_value() == "gsk_abc"


@pytest.mark.parametrize(
    ("variable", "value", "accepted"),
    [
        ("TERTULIA_PORT", "eight thousand", "a whole number from 0 to 65535"),
        ("TERTULIA_PORT", "65536", "a whole number from 0 to 65535"),
        ("TERTULIA_PROFILE", "production", "embedded, aws"),
        ("TERTULIA_LOCAL_LLM", "70b", "auto, 1.5b, 0.5b"),
        ("TERTULIA_WHISPER", "huge", "auto, base, tiny.en"),
        ("TERTULIA_LOCAL_VOICE", "espeak", "auto, kokoro, piper"),
        ("TERTULIA_CORS_ORIGINS", "*", "origins such as"),
        ("TERTULIA_CORS_ORIGINS", "https://page.example/path", "origins such as"),
        ("TERTULIA_HOST", "no host", "a host name or an address"),
        ("TTS_VOICE", "Fritz-PlayAI", "autumn, diana, hannah, austin, daniel, troy"),
        ("EMBEDDING_DIM", "768", "384"),
        ("EMBEDDING_DIM", "many", "384"),
        ("EMBEDDING_MODEL", "text-embedding-3-small", "all-MiniLM-L6-v2"),
        ("GROQ_BASE_URL", "api.groq.com", "begins with http:// or https://"),
        ("LLM_TEMPERATURE", "warm", "a number from 0 to 2"),
        ("LLM_TOP_P", "1.5", "a number from 0 to 1"),
        ("LLM_MAX_TOKENS", "0", "a whole number from 1"),
        ("STT_LANGUAGE", "klingon please", "a language tag"),
        ("EVATAR_RETENTION_DAYS", "8", "7, 14, 30, 90, 365"),
        ("MCP_TOOLS_ENABLED", "perhaps", "true or false"),
    ],
)
def test_a_wrong_value_names_its_variable_and_what_it_accepts(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, accepted: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        Settings()
    assert caught.value.message.startswith(f"{variable} must be ")
    assert accepted in caught.value.message
    assert "\n" not in caught.value.message


def test_a_wrong_secret_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk_two words")
    with pytest.raises(SettingsError, match=r"^GROQ_API_KEY must be a key without spaces\.$") as caught:
        Settings()
    assert caught.value.__cause__ is None
    assert "gsk_" not in str(caught.value)


def test_secrets_are_not_in_the_printed_settings() -> None:
    assert "gsk_abc" not in repr(Settings(groq_api_key="gsk_abc", api_token="t0ken"))


@given(st.sampled_from(["autumn", "diana", "hannah", "austin", "daniel", "troy"]), st.booleans())
def test_a_voice_is_known_in_any_case(voice: str, loud: bool) -> None:
    assert Settings(tts_voice=voice.upper() if loud else voice.title()).tts_voice == voice


def test_folders_follow_the_desktop_standard_and_the_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert Settings().data_dir == Path("/data/tertulia")
    assert Settings().models_dir == tmp_path / ".cache/tertulia/models"
    monkeypatch.setenv("TERTULIA_DATA_DIR", "~/mine")
    assert Settings().data_dir == tmp_path / "mine"
    monkeypatch.setenv("MEMORY_DB_PATH", "data/memory.db")
    assert Settings().memory_db_path == Path.cwd() / "data/memory.db"


def test_lists_are_split_at_commas_and_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERTULIA_CORS_ORIGINS", "https://a.example, http://localhost:1 http://b.example:8080")
    assert Settings().cors_origins == ("https://a.example", "http://localhost:1", "http://b.example:8080")
    monkeypatch.setenv("COMPOSIO_TOOLKITS", "github,gmail")
    assert Settings().composio_toolkits == ("github", "gmail")


def test_what_is_set_and_not_used_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@db/x")
    monkeypatch.setenv("SUPABASE_KEY", "secret")
    monkeypatch.setenv("TERTULIA_PROT", "9000")
    unused, unknown = Settings().notices
    assert unused.startswith("DATABASE_URL, SUPABASE_KEY: set but not used")
    assert unknown.startswith("TERTULIA_PROT is not a setting")
    assert "secret" not in unused + unknown


@pytest.mark.parametrize(
    ("variables", "lines"),
    [
        (("NOTION_API_KEY",), 1),
        (("NOTION_DATABASE_ID",), 1),
        (("NOTION_API_KEY", "NOTION_DATABASE_ID"), 0),
    ],
)
def test_half_of_notion_is_said_to_be_not_enough(
    monkeypatch: pytest.MonkeyPatch, variables: tuple[str, ...], lines: int
) -> None:
    for name in variables:
        monkeypatch.setenv(name, "ntn_secret")
    notices = Settings().notices
    assert len(notices) == lines
    assert all("to-dos stay" in line and "ntn_secret" not in line for line in notices)


@pytest.mark.parametrize(
    ("debug", "loggers"),
    [("", ()), ("1", ()), ("langchain:*", ("langchain",)), ("app,mcp:*,langchain:*", ("mcp", "langchain"))],
)
def test_debug_raises_only_the_loggers_it_names(debug: str, loggers: tuple[str, ...]) -> None:
    assert Settings(debug=debug).loggers == loggers


def test_settings_do_not_change_once_read() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.port = 9  # type: ignore[misc]


def test_the_default_models_have_prices_and_local_ones_are_free() -> None:
    settings = Settings()
    hosted = (settings.groq_llm_model, settings.groq_agent_model, settings.groq_stt_model, settings.groq_tts_model)
    used = Usage(tokens_in=1000, tokens_out=100, audio_seconds=8, characters=250)
    assert all(settings.prices.cost(model, used) > 0 for model in hosted)
    assert settings.prices.cost("qwen2.5-coder-1.5b", used) == 0


def test_costs_are_whole_microdollars_rounded_up() -> None:
    table = PriceTable({"m": Price(tokens_in=75_000, tokens_out=300_000, audio_hour=3_600, characters=1_000_000)})
    assert table.cost("m", Usage(tokens_in=1_000, tokens_out=100)) == 105
    assert table.cost("m", Usage(tokens_in=1)) == 1
    assert table.cost("m", Usage(audio_seconds=2.5)) == 3
    assert table.cost("m", Usage(characters=250)) == 250
    assert table.cost("m", Usage()) == 0


def test_native_threads_are_calmed_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    calm_native_threads()
    assert os.environ["GOMP_SPINCOUNT"] == "3000"
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    calm_native_threads()
    assert os.environ["GOMP_SPINCOUNT"] == "7"
    monkeypatch.delenv("GOMP_SPINCOUNT")
