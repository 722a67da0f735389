"""The SAM CLI: builds the functions and uploads them."""

import asyncio
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tertulia.domain.errors import Unavailable

TEMPLATE = "template.yaml"
_NEEDED = {
    "sam": "The SAM CLI is missing: run `make deploy`, which brings its own.",
    "make": "make is missing: install it with your system's package manager.",
    "uv": "uv is missing: see https://docs.astral.sh/uv/getting-started/installation.",
    "python3.13": "Python 3.13 is missing on the PATH: run `make deploy`, which brings its own.",
}
_CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")


class SamTool:
    """Runs `sam` in a checkout; what it prints is shown as it comes."""

    def __init__(self, checkout: Path) -> None:
        self._checkout = checkout

    def missing(self) -> Sequence[str]:
        """Return what has to be installed first, one sentence for each."""
        missing = [sentence for program, sentence in _NEEDED.items() if shutil.which(program) is None]
        if not (self._checkout / TEMPLATE).is_file():
            missing.append(f"There is no {TEMPLATE} in {self._checkout}: deploy from a checkout of Tertulia.")
        return missing

    def commands(self, stack: str, region: str, parameters: Mapping[str, str]) -> Sequence[str]:
        """Return the commands, as somebody would type them."""
        return [shlex.join(_build(parameters)), shlex.join(_deploy(stack, region, parameters))]

    async def build(self, parameters: Mapping[str, str]) -> None:
        """Build everything from the lock file."""
        await self._run(_build(parameters))

    async def deploy(self, stack: str, region: str, parameters: Mapping[str, str]) -> None:
        """Create or update a stack; no change is fine."""
        await self._run(_deploy(stack, region, parameters))

    async def _run(self, command: Sequence[str]) -> None:
        # Its telemetry would tell others what is deployed here.
        process = await asyncio.create_subprocess_exec("env", "SAM_CLI_TELEMETRY=0", *command, cwd=self._checkout)
        if await process.wait():
            raise Unavailable(
                f"`{' '.join([word for word in command if '=' not in word][:2])}` failed; what it printed says why. Mend that and do the same again."
            )


def _build(parameters: Mapping[str, str]) -> list[str]:
    # What makes the layers does not learn of the parameter otherwise.
    processor = [f"ARCH={parameters['Architecture']}"] if "Architecture" in parameters else []
    return [*processor, "sam", "build", "--parameter-overrides", *_overrides(parameters)]


def _deploy(stack: str, region: str, parameters: Mapping[str, str]) -> list[str]:
    command = ["sam", "deploy", "--stack-name", stack, "--region", region, "--resolve-s3"]
    command += ["--no-confirm-changeset", "--no-fail-on-empty-changeset", "--capabilities", *_CAPABILITIES]
    return [*command, "--parameter-overrides", *_overrides(parameters)]


def _overrides(parameters: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(parameters.items())]
