"""Amazon's own emulator of Lambda, as the SAM CLI brings it: one function, one call at a time, streams in one piece."""

import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import httpx

from tests.lambdas.host import Function, lambda_environment
from tests.lambdas.orphans import not_outliving
from tests.lambdas.serving import listener

PLACE = "/2015-03-31/functions/function/invocations"
PROCESSOR = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())


@contextmanager
def emulated(function: Function, folder: Path) -> Iterator[str]:
    """Run a function in the emulator, and give the address that calls it."""
    emulator = folder / "aws-lambda-rie"
    shutil.copy(str(files("samcli").joinpath(f"local/rapid/aws-lambda-rie-{PROCESSOR}")), emulator)
    emulator.chmod(0o755)
    with listener() as first, listener() as second:
        outer, inner = (f"127.0.0.1:{each.getsockname()[1]}" for each in (first, second))
    wrapper = function.environment.get("AWS_LAMBDA_EXEC_WRAPPER")
    command = [*([wrapper] if wrapper else []), *function.command]
    addresses = ["--runtime-interface-emulator-address", outer, "--runtime-api-address", inner]
    with subprocess.Popen(
        [*not_outliving(), emulator, "--log-level", "error", *addresses, *command],
        cwd=function.task_root,
        env={**lambda_environment(function), "AWS_LAMBDA_FUNCTION_TIMEOUT": str(int(function.seconds))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _wait_for(outer)
            yield f"http://{outer}{PLACE}"
        finally:
            process.terminate()


def _wait_for(address: str) -> None:
    until = time.monotonic() + 30
    while True:
        try:
            httpx.get(f"http://{address}/")
        except httpx.TransportError:
            assert time.monotonic() < until, "the emulator does not start"
            time.sleep(0.05)
        else:
            return
