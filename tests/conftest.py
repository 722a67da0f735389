"""What most tests need: an assistant whose models, ears and voices are scripted, over a real database of its own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tertulia.assistant import Assistant
from tertulia.settings import Settings, calm_native_threads
from tests.fakes.scripted import scripted_parts

pytest_plugins = [
    "tests.fakes.groq",
    "tests.fakes.mem0",
    "tests.fakes.models",
    "tests.fakes.notion",
    "tests.fakes.pinecone",
    "tests.fakes.web",
    "tests.lambdas.fixtures",
]


calm_native_threads()


class MakeAssistant(Protocol):
    """Builds a scripted assistant; parts given by name replace the scripted ones."""

    def __call__(self, settings: Settings | None = None, /, **parts: Any) -> Assistant: ...


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of a machine where nothing is set, with a data folder of the test's own."""
    for name in ("GROQ_API_KEY", "TERTULIA_GROQ_API_KEY", "TERTULIA_API_TOKEN", "EVATAR_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return Settings(data_dir=tmp_path / "data")


@pytest.fixture
async def make_assistant(settings: Settings) -> AsyncIterator[MakeAssistant]:
    """Build scripted assistants, and close them after the test."""
    made: list[Assistant] = []

    def make(own_settings: Settings | None = None, **parts: Any) -> Assistant:
        scripted = scripted_parts(parts.get("chat_model"))
        assistant = Assistant(own_settings or settings, **(scripted | parts))
        made.append(assistant)
        return assistant

    yield make
    for assistant in made:
        await assistant.close()
