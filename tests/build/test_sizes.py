"""Functions fit into Lambda, with room to grow."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from packing import sizes
from packing.plan import FUNCTIONS, Arch
from packing.sizes import MEGABYTE, Package, Weight


@pytest.fixture(scope="module")
def weights(built: Path) -> Mapping[str, Weight]:
    return sizes.layer_weights(built)


def test_every_function_fits_with_its_layers(built: Path, weights: Mapping[str, Weight]) -> None:
    packages = sizes.packages(built, weights)
    assert {package.name for package in packages} == {path.parent.name for path in FUNCTIONS.glob("*/handler.py")}
    assert [package.name for package in packages if package.is_too_large] == []


def test_a_voice_needs_only_the_vendors_client() -> None:
    assert sizes.layers_of_functions()["tts"] == ("core", "tertulia")


@pytest.mark.parametrize(
    ("layers", "megabytes", "is_too_large"),
    [(("core",), 230, False), (("core",), 231, True), (tuple("abcdef"), 10, True)],
)
def test_more_than_230_megabytes_or_five_layers_are_too_much(
    layers: tuple[str, ...], megabytes: int, is_too_large: bool
) -> None:
    assert Package("chat", layers, Weight(FUNCTIONS / "chat"), megabytes * MEGABYTE).is_too_large is is_too_large


def test_the_check_prints_a_row_for_everything_and_fails_over_the_limit(
    built: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "WE_ALLOW", 10 * MEGABYTE)
    assert not sizes.check(Arch.here(), built)
    printed = capsys.readouterr().out
    assert "embeddings" in printed
    assert "voice" in printed
    assert "at most 10.0 MB" in printed
