"""Checks of this machine: models, folders, port, vectors."""

import asyncio
import os
import shutil
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tertulia.adapters.embedded.model_library import ModelLibrary
from tertulia.domain.checkups import Finding, fine, note, problem
from tertulia.ports import Embedder

GIGABYTE = 1_000_000_000
LEAST_FREE_BYTES = GIGABYTE


@dataclass(frozen=True)
class ModelFiles:
    """Whether the model files that this machine uses are here, every byte of them."""

    library: ModelLibrary
    names: tuple[str, ...]
    matter = "models"

    async def __call__(self) -> Sequence[Finding]:
        """Look at each file."""
        missing = await asyncio.to_thread(self.library.missing, self.names)
        if missing:
            return [problem(self.matter, f"Not on this machine: {', '.join(missing)}.", "Run `tertulia models fetch`.")]
        return [fine(self.matter, f"All are here: {', '.join(self.names)}.")]


@dataclass(frozen=True)
class Vectors:
    """Whether the embedding model makes vectors of the length that is stored."""

    embedder: Callable[[], Embedder]
    dimension: int
    matter = "embeddings"

    async def __call__(self) -> Sequence[Finding]:
        """Make one."""
        [vector] = await self.embedder().embed(["hello"])
        if len(vector) == self.dimension:
            return [fine(self.matter, f"Vectors have {self.dimension} numbers.")]
        what = f"Vectors have {len(vector)} numbers instead of {self.dimension}."
        return [problem(self.matter, what, "Run `tertulia models fetch`.")]


@dataclass(frozen=True)
class Folder:
    """Whether a folder can be written and has room."""

    matter: str
    place: Path

    async def __call__(self) -> Sequence[Finding]:
        """Look at the folder, or at where it will be made."""
        there = next(folder for folder in (self.place, *self.place.parents) if folder.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            return [problem(self.matter, f"{there} cannot be written.", "Change its owner, or choose another folder.")]
        free = shutil.disk_usage(there).free
        if free < LEAST_FREE_BYTES:
            what = f"Only {free / GIGABYTE:.1f} GB are free at {there}."
            return [problem(self.matter, what, "Make room: models and recordings need it.")]
        return [fine(self.matter, f"{self.place}, {free / GIGABYTE:.0f} GB free.")]


@dataclass(frozen=True)
class FreePort:
    """Whether the server could take its port, or has it."""

    host: str
    port: int
    own_server: str | None
    """Where our own server answers, when it runs."""
    matter = "port"

    async def __call__(self) -> Sequence[Finding]:
        """Try it."""
        if self.own_server:
            return [note(self.matter, f"The server runs at {self.own_server}.")]
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                what = f"{self.host}:{self.port} cannot be taken: {os.strerror(error.errno or 0)}."
                return [problem(self.matter, what, "End the program that has it, or set TERTULIA_PORT.")]
        return [fine(self.matter, f"{self.port} is free.")]
