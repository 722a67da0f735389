"""Folders of files as a layer wants them: without what is never imported, stripped, compiled, and the same each time."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LONG_AGO = 315_532_800
"""The first day of 1980, the earliest that a zip file can name."""

DROPPED = (
    *(
        "bin",
        "**/tests",
        "**/test",
        "**/testing/data",
        "**/*.pyi",
        "**/*.c",
        "**/*.h",
        "**/*.pyx",
        "**/*.pxd",
        "**/*.a",
    ),
    *("*-stubs", "**/__pycache__", "*.dist-info/RECORD", "*.dist-info/uv_cache.json"),
    # What onnxruntime's module does not link, and its tools for making models.
    *(
        "onnxruntime/capi/libonnxruntime.so*",
        "onnxruntime/transformers",
        "onnxruntime/tools",
        "onnxruntime/quantization",
    ),
    *("onnxruntime/datasets", "numpy/_core/include", "numpy/f2py", "numpy/random/lib"),
)
KEPT = ("**/langsmith/testing", "numpy/testing")

WRAPPER = "stream-bootstrap"
"""Started by Lambda; it lies in the layer of the package, beside its folder."""


def pruned(folder: Path) -> None:
    """Drop what is never imported."""
    kept = {path for pattern in KEPT for path in folder.glob(pattern)}
    for pattern in DROPPED:
        for path in sorted(folder.glob(pattern)):
            if path in kept or not path.exists():
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def stripped(folder: Path) -> None:
    """Drop the symbols of libraries; those under `*.libs` are renamed ones, which strip breaks."""
    tool = strip_tool()
    libraries = [path for path in sorted(folder.rglob("*.so*")) if not path.parent.name.endswith(".libs")]
    if tool and libraries:
        subprocess.run([tool, "--strip-unneeded", *libraries], check=True)


def strip_tool() -> str | None:
    """Return LLVM's strip, which knows both architectures; without it, layers are larger and work the same."""
    return shutil.which("llvm-strip") or shutil.which("llvm-strip", path="/opt/homebrew/opt/llvm/bin")


def compiled(folder: Path, place: str) -> None:
    """Write bytecode that is never checked against its source: a layer is read-only, so nothing could be compiled."""
    command = (sys.executable, "-m", "compileall", "-q", "-j", "2", "--invalidation-mode", "unchecked-hash")
    # Files for other versions of Python do not compile; that nothing imports them, the tests of the handlers show.
    subprocess.run([*command, "-s", folder, "-p", place, folder], check=False, stdout=subprocess.DEVNULL)


def settled(folder: Path) -> None:
    """Give all files one date and the same rights."""
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.name == WRAPPER else 0o644)
        os.utime(path, (LONG_AGO, LONG_AGO))
    os.utime(folder, (LONG_AGO, LONG_AGO))


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder in their order."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def digest_of(*paths: Path) -> str:
    """Return one digest of files and folders, names and contents; bytecode that lies beside sources does not count."""
    digest = hashlib.sha256()
    for path in paths:
        for file in files_of(path) if path.is_dir() else [path]:
            digest.update(f"{file.relative_to(path) if path.is_dir() else file.name}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
