"""Layers: from the lock file, the same each time, and ready to be imported without compiling."""

import hashlib
import importlib.util
import marshal
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from packing.building import build_layer
from packing.plan import Arch, layers
from packing.requirements import requirements_of
from tertulia.adapters.embedded.model_manifest import shipped_manifest

DEPENDENCIES = [name for name, layer in layers().items() if not layer.is_the_package]
UNCHECKED_HASH = 0b01
AARCH64 = 183


def state_of(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return rights, date and contents of everything in a folder."""
    return {
        str(path.relative_to(folder)): (
            stat.S_IMODE(path.stat().st_mode),
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in folder.rglob("*")
    }


def distributions(layer: Path) -> set[str]:
    return {path.name.split("-")[0].lower() for path in (layer / "python").glob("*.dist-info")}


def test_a_layer_built_anew_is_the_same_to_the_last_bit(built: Path, tmp_path: Path) -> None:
    build_layer(layers()["core"], tmp_path / "core", Arch.here())
    assert state_of(tmp_path / "core") == state_of(built / "layers" / "core")


def test_so_is_that_of_the_package(tmp_path: Path) -> None:
    for attempt in ("one", "two"):
        build_layer(layers()["tertulia"], tmp_path / attempt, Arch.here())
    assert state_of(tmp_path / "one") == state_of(tmp_path / "two")


def test_nothing_is_in_a_layer_and_in_one_below_it(built: Path) -> None:
    for name, layer in layers().items():
        for lower in layer.over:
            assert not distributions(built / "layers" / name) & distributions(built / "layers" / lower)


def test_what_lambda_brings_is_in_no_layer(built: Path) -> None:
    for name in DEPENDENCIES:
        assert not {"boto3", "botocore"} & distributions(built / "layers" / name)


@pytest.mark.parametrize("name", DEPENDENCIES)
def test_every_requirement_is_checked_by_its_digest(name: str) -> None:
    assert requirements_of(layers()[name])
    assert all("--hash=sha256:" in line for line in requirements_of(layers()[name]))


def modules_in(folder: Path) -> Iterator[tuple[Path, Path]]:
    for source in folder.rglob("*.py"):
        yield source, Path(importlib.util.cache_from_source(str(source)))


@pytest.mark.parametrize("name", ["core", "agent", "embeddings", "hearing", "tertulia"])
def test_every_module_comes_with_bytecode_that_is_never_checked(built: Path, name: str) -> None:
    layer = built / "layers" / name
    for source, bytecode in modules_in(layer / "python"):
        data = bytecode.read_bytes()
        assert data[:4] == importlib.util.MAGIC_NUMBER
        assert struct.unpack("<I", data[4:8])[0] == UNCHECKED_HASH
        assert marshal.loads(data[16:]).co_filename == f"/opt/{source.relative_to(layer)}"  # noqa: S302 - our own


def test_the_layer_of_embeddings_holds_the_model_of_the_manifest(built: Path) -> None:
    for file in shipped_manifest().model("minilm").files:
        there = built / "layers/embeddings/models/minilm" / file.name
        assert hashlib.sha256(there.read_bytes()).hexdigest() == file.sha256


def test_tests_and_stubs_stay_out_and_metadata_stays_in(built: Path) -> None:
    for name in DEPENDENCIES:
        python = built / "layers" / name / "python"
        assert not [*python.rglob("*.pyi"), *python.glob("*/tests")]
        assert [*python.glob("*.dist-info/METADATA")]


def test_the_other_architecture_is_built_here_too(tmp_path: Path) -> None:
    build_layer(layers()["hearing"], tmp_path / "hearing", Arch.ARM64)
    [library] = (tmp_path / "hearing").rglob("libsndfile*.so")
    assert struct.unpack("<H", library.read_bytes()[18:20])[0] == AARCH64
