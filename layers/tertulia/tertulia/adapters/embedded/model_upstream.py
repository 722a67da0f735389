"""Model files from the address of their first publisher, resumed by byte ranges."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tertulia.adapters.embedded.model_manifest import ModelFile
from tertulia.adapters.embedded.model_sources import CHUNK, Progress, SourceFailed, size_of

ATTEMPTS = 3


class UpstreamSource:
    """Downloads by HTTP; a broken connection is taken up again."""

    async def fill(self, files: Sequence[ModelFile], folder: Path, progress: Progress) -> None:
        """Add what is missing to the partial files in the folder, or raise SourceFailed."""
        for file in files:
            await self._fill_one(file, folder / file.name, progress)

    async def _fill_one(self, file: ModelFile, partial: Path, progress: Progress) -> None:
        import httpx

        for attempt in range(1, ATTEMPTS + 1):
            try:
                await self._receive(file, partial, progress)
                break
            except httpx.HTTPError as error:
                if attempt == ATTEMPTS:
                    raise SourceFailed(f"{file.upstream} gave no whole file: {error!r}") from error

    async def _receive(self, file: ModelFile, partial: Path, progress: Progress) -> None:
        import httpx

        if file.upstream is None:
            raise SourceFailed(f"{file.name} can only be had from its packages.")
        done = size_of(partial)
        # A compressed body would have other byte positions than the file.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
        async with (
            httpx.AsyncClient(follow_redirects=True, timeout=30) as client,
            client.stream("GET", file.upstream, headers=headers) as response,
        ):
            response.raise_for_status()
            if response.status_code != httpx.codes.PARTIAL_CONTENT:
                done = 0
            async for chunk in response.aiter_bytes(CHUNK):
                if done + len(chunk) > file.size:
                    raise SourceFailed(f"{file.upstream} gives more than the file.")
                await asyncio.to_thread(_write_at, partial, done, chunk)
                done += len(chunk)
                progress(file.name, done, file.size)


def _write_at(path: Path, start: int, data: bytes) -> None:
    path.touch()
    with path.open("r+b") as out:
        out.truncate(start)
        out.seek(start)
        out.write(data)
