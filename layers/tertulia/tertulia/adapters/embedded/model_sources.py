"""What a source of model files is: it fills partial files, and a later attempt goes on where the last one ended."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tertulia.adapters.embedded.model_manifest import ModelFile

CHUNK = 1 << 20


class SourceFailed(Exception):
    """A source could not give everything; what it gave is kept."""


class Progress(Protocol):
    """Hears how far each file is, to draw a bar."""

    def __call__(self, file: str, done: int, total: int) -> None:
        """Take note of the bytes there are by now."""
        ...


class ModelSource(Protocol):
    """Somewhere the bytes of model files can be had."""

    async def fill(self, files: Sequence[ModelFile], folder: Path, progress: Progress) -> None:
        """Add what is missing to the partial files in the folder, or raise SourceFailed."""
        ...


def size_of(path: Path) -> int:
    """Return a file's size, 0 where there is none."""
    return path.stat().st_size if path.is_file() else 0
