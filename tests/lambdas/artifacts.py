"""What is deployed: functions and layers as they are built, and the runtime that Lambda brings."""

import platform
import shutil
import sys
from collections.abc import Iterable
from importlib.metadata import files
from pathlib import Path

from tests.architecture.source_tree import CHECKOUT

ARCHITECTURE = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), platform.machine())
BUILD = CHECKOUT / "build" / ARCHITECTURE
BROUGHT_BY_LAMBDA = ("boto3", "botocore", "s3transfer", "jmespath", "python-dateutil", "six", "urllib3")
RUNTIME_CLIENT = ("awslambdaric", "simplejson", "snapshot-restore-py")


class Artifacts:
    """The file system of execution environments, under a folder: /opt by layers, /var/runtime, and an interpreter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.runtime = folder / "runtime"
        _install((*BROUGHT_BY_LAMBDA, *RUNTIME_CLIENT), self.runtime)
        self.python = folder / "python3.13"
        # Without its site folder, so that nothing is found but what is deployed.
        interpreter = Path(sys.base_prefix) / "bin/python3.13"
        self.python.write_text(f'#!/bin/sh\nexec {interpreter} -S -s "$@"\n')
        self.python.chmod(0o755)

    def opt(self, layers: Iterable[str]) -> Path:
        """Return the folder that layers are unpacked into, one over the other."""
        names = tuple(layers)
        place = self._folder / "opt" / "-".join(names)
        if not place.exists():
            for name in names:
                shutil.copytree(BUILD / "layers" / name, place, copy_function=_linked, dirs_exist_ok=True)
        return place

    def task_root(self, folder: str) -> Path:
        """Return a function's own folder."""
        return BUILD / "functions" / folder


def _install(distributions: Iterable[str], place: Path) -> None:
    """Put installed distributions into a folder of their own."""
    for name in distributions:
        for file in files(name) or ():
            if ".." not in file.parts:
                target = place / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                target.symlink_to(str(file.locate()))


def _linked(source: str, target: str) -> str:
    Path(target).unlink(missing_ok=True)
    Path(target).symlink_to(source)
    return target
