"""Builds layers and functions, each only when something that goes into it has changed."""

import asyncio
import hashlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from packing import tree
from packing.plan import BUILD, CHECKOUT, FUNCTIONS, PACKAGE, Arch, Layer, functions, layers
from packing.requirements import install, requirements_of
from tertulia.adapters.embedded.model_library import ModelLibrary
from tertulia.settings import Settings

SHAPING = ("building.py", "plan.py", "requirements.py", "tree.py")
"""The parts of the build that shape what it makes."""
_OTHER_BYTECODE = shutil.ignore_patterns("__pycache__")


def build(arch: Arch, into: Path | None = None) -> Path:
    """Build everything for an architecture; returns the folder with `layers/` and `functions/`."""
    root = into or BUILD / arch
    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / ".lock"):
        for layer in layers().values():
            build_layer(layer, root / "layers" / layer.name, arch)
        for name in functions():
            build_function(name, root / "functions" / name)
        _forget_others(root / "layers", set(layers()))
        _forget_others(root / "functions", set(functions()))
    return root


def build_layer(layer: Layer, into: Path, arch: Arch) -> None:
    """Build a layer, as it will lie under /opt."""
    if layer.is_the_package:
        _made(into, tree.digest_of(PACKAGE, PACKAGE.with_name(tree.WRAPPER)), _fill_with_the_package)
        return
    requirements = requirements_of(layer)
    key = hashlib.sha256("\n".join((arch, *layer.models, *requirements)).encode()).hexdigest()
    _made(into, key, lambda folder: _fill(layer, requirements, folder, arch))


def build_function(name: str, into: Path) -> None:
    """Build a function, as it will lie under /var/task."""

    def fill(folder: Path) -> None:
        shutil.copytree(FUNCTIONS / name, folder, ignore=_OTHER_BYTECODE, dirs_exist_ok=True)
        tree.compiled(folder, "/var/task")

    _made(into, tree.digest_of(FUNCTIONS / name), fill)


def _fill(layer: Layer, requirements: list[str], into: Path, arch: Arch) -> None:
    python = into / "python"
    install(requirements, python, arch)
    tree.pruned(python)
    tree.stripped(python)
    tree.compiled(python, "/opt/python")
    for model in layer.models:
        shutil.copytree(_model(model), into / "models" / model, ignore=shutil.ignore_patterns(".*"))


def _fill_with_the_package(into: Path) -> None:
    shutil.copytree(PACKAGE, into / "python" / PACKAGE.name, ignore=_OTHER_BYTECODE)
    tree.compiled(into / "python", "/opt/python")
    shutil.copy(PACKAGE.with_name(tree.WRAPPER), into)


def _model(name: str) -> Path:
    """Return the folder of a model's files, fetched when they are missing, and checked."""
    library = ModelLibrary(Settings().models_dir)
    asyncio.run(library.fetch([name]))
    path = library.path(name)
    return path if path.is_dir() else path.parent


def _made(into: Path, inputs: str, fill: Callable[[Path], None]) -> None:
    """Fill a folder anew, unless it was filled from the same inputs by the same tools."""
    tools = (sys.version, tree.strip_tool() or "", tree.digest_of(*(CHECKOUT / "packing" / file for file in SHAPING)))
    key = hashlib.sha256("\n".join((inputs, *tools)).encode()).hexdigest()
    mark = into.with_name(f"{into.name}.key")
    if mark.is_file() and mark.read_text() == key and into.is_dir():
        return
    # Whoever reads the folder meanwhile sees the old one or the new one, each whole.
    fresh = into.with_name(f"{into.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    fill(fresh)
    tree.settled(fresh)
    mark.unlink(missing_ok=True)
    shutil.rmtree(into, ignore_errors=True)
    fresh.rename(into)
    mark.write_text(key)


def _forget_others(folder: Path, wanted: set[str]) -> None:
    for path in folder.iterdir():
        if path.name.removesuffix(".key") not in wanted:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
