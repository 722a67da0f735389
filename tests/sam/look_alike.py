"""An image that looks like AWS's Python runtime, made of this machine's own files: nothing is pulled.

It proves our artifacts under SAM's commands; its C library is this machine's and not Amazon Linux's.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import files
from pathlib import Path

from tests.sam.engine import Engine

IMAGE = "tertulia/look-alike-of-lambda-python:3.13"
AWS_IMAGE = "public.ecr.aws/lambda/python:3.13-x86_64"
RUNTIME_PACKAGES = (
    "awslambdaric", "snapshot-restore-py", "boto3", "botocore", "s3transfer", "jmespath", "python-dateutil", "six", "urllib3",
)  # fmt: skip
COMMANDS = ("sh", "cp", "mv", "rm", "chmod", "mkdir", "env", "cat", "ls")
"""SAM needs a shell that can move and chmod its emulator; the rest is for whoever looks inside."""

ENTRY = "/var/runtime/bootstrap"
SETTINGS = {
    "LANG": "en_US.UTF-8",
    "TZ": ":UTC",
    "PATH": "/var/lang/bin:/usr/local/bin:/usr/bin:/bin:/opt/bin",
    "LD_LIBRARY_PATH": "/var/lang/lib:/lib64:/usr/lib64:/var/runtime:/var/runtime/lib:/var/task:/var/task/lib:/opt/lib",
    "LAMBDA_TASK_ROOT": "/var/task",
    "LAMBDA_RUNTIME_DIR": "/var/runtime",
}
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "etc/group": "root:x:0:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
    "var/runtime/bootstrap": """#!/bin/sh
export PYTHONPATH=/opt/python/lib/python3.13/site-packages:/opt/python:/var/runtime
exec ${AWS_LAMBDA_EXEC_WRAPPER:-} /var/lang/bin/python3.13 /var/runtime/bootstrap.py
""",
    "var/runtime/bootstrap.py": """import os
import sys

from awslambdaric.__main__ import main

sys.path.insert(0, os.environ["LAMBDA_TASK_ROOT"])
main(["bootstrap", os.environ["_HANDLER"]])
""",
}
UNUSED = {
    "test",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "site-packages",
    "__pycache__",
    "pkgconfig",
    "lib2to3",
}
EVERYWHERE = {
    "libc.so.6", "libdl.so.2", "libm.so.6", "libmvec.so.1", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libresolv.so.2",
    "libnss_dns.so.2", "libnss_files.so.2", "libgcc_s.so.1", "libstdc++.so.6",
}  # fmt: skip
FOLDERS = ("tmp", "opt", "root", "var/task", "var/rapid")


def runtime_image(engine: Engine) -> str:
    """Return AWS's image where it is here already, else the look-alike, made when it is missing."""
    if engine.has(AWS_IMAGE):
        return AWS_IMAGE
    if not engine.has(IMAGE):
        changes = [f"ENV {name}={value}" for name, value in SETTINGS.items()]
        changes += [f'ENTRYPOINT ["{ENTRY}"]', "WORKDIR /var/task"]
        with tempfile.TemporaryFile() as image:
            with tarfile.open(fileobj=image, mode="w|") as tar:
                _fill(tar)
            image.seek(0)
            engine.run("import", *(f"--change={change}" for change in changes), "-", IMAGE, data=image)
    return IMAGE


def _fill(tar: tarfile.TarFile) -> None:
    for folder in FOLDERS:
        _add(tar, folder, None, 0o1777 if folder == "tmp" else 0o755)
    for name, text in TEXTS.items():
        _add(tar, name, text.encode(), 0o755)
    copied = {**_python(), **_runtime(), **_commands()}
    libraries = {str(library).lstrip("/"): library for library in _needed(copied.values())}
    for name, source in sorted({**copied, **libraries, **_certificates()}.items()):
        tar.add(source.resolve(), name)


def _add(tar: tarfile.TarFile, name: str, data: bytes | None, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    entry.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
    entry.size = len(data or b"")
    tar.addfile(entry, io.BytesIO(data or b""))


def _python() -> dict[str, Path]:
    home = Path(sys.base_prefix)
    found = {"var/lang/bin/python3.13": (home / "bin/python3.13")}
    for file in (home / "lib").rglob("*"):
        inside = file.relative_to(home)
        if file.is_file() and not UNUSED.intersection(inside.parts) and file.suffix != ".a":
            found[f"var/lang/{inside}"] = file
    return found


def _runtime() -> dict[str, Path]:
    return {
        f"var/runtime/{file}": Path(str(file.locate()))
        for package in RUNTIME_PACKAGES
        for file in files(package) or ()
        if ".." not in file.parts and file.suffix != ".pyc"
    }


def _commands() -> dict[str, Path]:
    return {f"bin/{name}": Path("/bin", name) for name in COMMANDS}


def _certificates() -> dict[str, Path]:
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    return {"etc/ssl/certs/ca-certificates.crt": bundle, "var/lang/ssl/cert.pem": bundle} if bundle.exists() else {}


def _needed(programs: Iterable[Path]) -> set[Path]:
    """Return the libraries that programs are linked with, and those that every system has for compiled packages."""
    binaries = [
        program for program in programs if program.suffix == ".so" or (not program.suffix and _is_binary(program))
    ]
    linked = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=False).stdout
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    also = [line for line in known.splitlines() if line.split() and line.split()[0] in EVERYWHERE]
    return set(_paths(linked.splitlines())) | set(_paths(also))


def _is_binary(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def _paths(lines: Iterable[str]) -> Iterator[Path]:
    for line in lines:
        words = line.split()
        yield from (Path(word) for word in words if word.startswith("/") and ".so" in word and not word.endswith(":"))
