"""What of the lock file goes into a layer: each requirement with its digests, as uv exports them."""

import re
import subprocess
import sys
from pathlib import Path

from packing.plan import CHECKOUT, PYTHON, Arch, Layer, layers

UV = Path(sys.executable).with_name("uv")
THE_RUNTIME_BRINGS = ("boto3", "botocore", "s3transfer")


def requirements_of(layer: Layer) -> list[str]:
    """Return what goes into the layer and is not in those below it."""
    below = {_name(line) for name in layer.over for line in exported(layers()[name])}
    left_out = {*THE_RUNTIME_BRINGS, *layer.without, *below}
    return [line for line in exported(layer) if _name(line) not in left_out]


def exported(layer: Layer) -> list[str]:
    """Return every requirement of the layer's extras."""
    extras = [part for extra in layer.extras for part in ("--extra", extra)]
    lines = subprocess.run(
        [UV, "export", "--quiet", "--frozen", "--no-dev", "--no-header", "--no-annotate", "--no-emit-project", *extras],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return re.sub(r"\s*\\\n\s*", " ", lines).splitlines()


def install(requirements: list[str], into: Path, arch: Arch) -> None:
    """Install wheels of an architecture, each checked by its digest, without running anything of theirs."""
    subprocess.run(
        [
            *(UV, "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes"),
            *("--python-version", PYTHON, "--python-platform", arch.uv_platform, "--target", into),
            *("--link-mode", "copy", "--requirements", "-"),
        ],
        input="\n".join(requirements),
        cwd=CHECKOUT,
        check=True,
        text=True,
    )


def _name(requirement: str) -> str:
    return re.split(r"[=<>@;\[ ]", requirement, maxsplit=1)[0].lower()
