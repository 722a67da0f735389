"""Whether a model file is whole: its digest is taken once and remembered in a stamp beside it."""

import hashlib
from contextlib import suppress
from pathlib import Path

from tertulia.adapters.embedded.model_manifest import ModelFile


def is_whole(path: Path, file: ModelFile) -> bool:
    """Tell whether the file has the manifest's bytes; only a file changed since its stamp is read through."""
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    if _stamp(path).is_file() and _stamp(path).read_text() == _stamp_text(path, file):
        return True
    if sha256_of(path) != file.sha256:
        return False
    # A folder that several users share may be read-only for this one: then each start reads the file through.
    with suppress(OSError):
        stamp(path, file)
    return True


def stamp(path: Path, file: ModelFile) -> None:
    """Remember that the file as it stands now has the right digest."""
    _stamp(path).write_text(_stamp_text(path, file))


def sha256_of(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _stamp(path: Path) -> Path:
    return path.with_name(f".{path.name}.checked")


def _stamp_text(path: Path, file: ModelFile) -> str:
    state = path.stat()
    return f"{state.st_size} {state.st_mtime_ns} {file.sha256}"
