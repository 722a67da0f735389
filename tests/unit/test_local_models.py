"""Which of the local models are used."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tertulia.adapters.embedded import local_models
from tertulia.adapters.embedded.kokoro import KokoroSynthesizer
from tertulia.adapters.embedded.local_models import LocalModels, LocalWishes
from tertulia.adapters.embedded.model_library import ModelLibrary
from tertulia.adapters.embedded.piper import PiperSynthesizer
from tertulia.domain.errors import NotConfigured


class FullLibrary(ModelLibrary):
    """A library that has every model but some."""

    def __init__(self, root: Path, without: Iterable[str] = ()) -> None:
        super().__init__(root)
        self._without = frozenset(without)

    def path(self, name: str) -> Path:
        return self.root / name

    def missing(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in self._without)


@pytest.fixture
def library(tmp_path: Path) -> FullLibrary:
    return FullLibrary(tmp_path)


@pytest.fixture
def without_piper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_models, "piper_is_installed", lambda: False)


def test_the_fast_voice_speaks_where_it_is_installed_with_its_model(library: FullLibrary) -> None:
    local = LocalModels(library)
    assert isinstance(local.synthesizer, PiperSynthesizer)
    assert "piper-joe" in local.names
    assert "kokoro" not in local.names


def test_without_its_model_the_fast_voice_is_not_chosen(tmp_path: Path) -> None:
    local = LocalModels(FullLibrary(tmp_path, without=["piper-joe"]))
    assert isinstance(local.synthesizer, KokoroSynthesizer)
    assert "piper-joe" not in local.names


@pytest.mark.usefixtures("without_piper")
def test_without_its_package_the_fast_voice_is_not_chosen(library: FullLibrary) -> None:
    assert isinstance(LocalModels(library).synthesizer, KokoroSynthesizer)


def test_kokoro_speaks_where_it_is_asked_for(library: FullLibrary) -> None:
    assert isinstance(LocalModels(library, LocalWishes(voice="kokoro")).synthesizer, KokoroSynthesizer)


def test_the_model_of_a_voice_that_is_asked_for_is_fetched_with_the_others(tmp_path: Path) -> None:
    assert "piper-joe" in LocalModels(FullLibrary(tmp_path, without=["piper-joe"]), LocalWishes(voice="piper")).names


@pytest.mark.usefixtures("without_piper")
def test_a_voice_that_is_asked_for_and_not_installed_says_how_to_get_it(library: FullLibrary) -> None:
    with pytest.raises(NotConfigured, match="make fast-voice"):
        _ = LocalModels(library, LocalWishes(voice="piper")).synthesizer


@pytest.mark.parametrize(
    ("language_model", "ear", "names"),
    [("0.5b", "tiny.en", {"qwen-0.5b", "whisper-tiny-en"}), ("1.5b", "base", {"qwen-1.5b", "whisper-base"})],
)
def test_settings_choose_the_language_model_and_the_ear(
    library: FullLibrary, language_model: str, ear: str, names: set[str]
) -> None:
    assert names <= set(LocalModels(library, LocalWishes(language_model=language_model, ear=ear)).names)
