"""What is built, as `pyproject.toml` says it: each layer, the extras in it, and the layers it lies over."""

import platform
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "layers" / "tertulia" / "tertulia"
FUNCTIONS = CHECKOUT / "functions"
BUILD = CHECKOUT / "build"
PYTHON = "3.13"
"""The runtime of the functions; bytecode is of this version."""


class Arch(StrEnum):
    """What the functions run on."""

    ARM64 = "arm64"
    X86_64 = "x86_64"

    @classmethod
    def here(cls) -> "Arch":
        """Return this machine's own."""
        return cls.ARM64 if platform.machine().lower() in {"arm64", "aarch64"} else cls.X86_64

    @property
    def uv_platform(self) -> str:
        """What uv calls it; Amazon Linux 2023 has this C library."""
        return f"{'aarch64' if self is Arch.ARM64 else 'x86_64'}-manylinux_2_34"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer of dependencies, or that of the package itself."""

    name: str
    extras: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    """Layers that every function with this one has too: what they hold is left out."""
    without: tuple[str, ...] = ()
    """Packages that nothing of ours uses, though others name them."""
    models: tuple[str, ...] = ()
    """Models of the manifest, under `models/`."""

    @property
    def is_the_package(self) -> bool:
        """Whether it holds our own code."""
        return self.name == PACKAGE.name


def layers() -> dict[str, Layer]:
    """Return all layers by their names, the lower ones first."""
    table = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["tool"]["tertulia"]["layers"]
    return {
        name: Layer(name=name, **{key: tuple(value) for key, value in parts.items()}) for name, parts in table.items()
    }


def functions() -> list[str]:
    """Return the names of all functions."""
    return sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py"))
