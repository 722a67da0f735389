"""SAM's local commands over what `sam build` made, with a cloud and a vendor that containers reach."""

import hashlib
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samcli.lib.providers.provider import LayerVersion  # type: ignore[import-untyped]  # ships no types
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]  # ships no types

from tests.sam.engine import Engine

CHECKOUT = Path(__file__).parents[2]
BUILT = CHECKOUT / ".aws-sam/local"
LAYERS = BUILT / "layers"
LAYER = "AWS::Serverless::LayerVersion"
BIN = Path(sys.executable).parent
REGION = "eu-central-1"
ARCHITECTURE = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x86_64")
SECONDS_TO_BUILD = 600
SECONDS_TO_CALL = 300

LOGIN = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_DEFAULT_REGION": REGION}
WORKFLOW = "AfterTurn"
NAMES = {
    "TERTULIA_TABLE_NAME": "tertulia",
    "TERTULIA_BUCKET_NAME": "tertulia",
    "TERTULIA_AFTER_TURN_ARN": f"arn:aws:states:{REGION}:123456789012:stateMachine:{WORKFLOW}",
    "TERTULIA_STREAMING": "false",
}
"""What a deployment would fill in; the emulator answers in one piece."""


def build() -> None:
    """Run `sam build`, whose layers come from `scripts/build`."""
    _sam(
        "build",
        "--build-dir",
        str(BUILT),
        "--parameter-overrides",
        f"Architecture={ARCHITECTURE}",
        seconds=SECONDS_TO_BUILD,
    )


class Failed(Exception):
    """A function ended with an error."""


@dataclass(frozen=True, kw_only=True)
class SamLocal:
    """The local commands, with all they have to be told."""

    engine: Engine
    image: str
    cloud: str
    """The address of the imitated AWS, as containers reach it."""

    def prepare(self) -> None:
        """Write the template that names the imitated AWS: SAM passes on no variable that a template does not have.

        It also names the built layers as if they had been published and fetched before: SAM would make the image
        of a template's own layers anew for each call, in 20 seconds.
        """
        template = yaml_parse((BUILT / "template.yaml").read_text("utf-8"))
        template["Globals"]["Function"]["Environment"]["Variables"]["AWS_ENDPOINT_URL"] = self.cloud
        shutil.rmtree(LAYERS, ignore_errors=True)
        LAYERS.mkdir()
        published = {name: _published(name) for name, each in template["Resources"].items() if each["Type"] == LAYER}
        for resource in template["Resources"].values():
            layers = resource.get("Properties", {}).get("Layers", ())
            for place, layer in enumerate(layers):
                layers[place] = published[layer["Ref"]]
            events = resource.get("Properties", {}).get("Events", {})
            # The local API takes all routes of a path for one, and by chance that one is open to everybody.
            for name in [name for name, event in events.items() if event["Properties"].get("Method") == "OPTIONS"]:
                del events[name]
        (BUILT / "with-cloud.json").write_text(json.dumps(template), "utf-8")
        (BUILT / "variables.json").write_text(json.dumps({"Parameters": NAMES}), "utf-8")

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """Run `sam local invoke` with an event; return what the function returned."""
        (BUILT / "event.json").write_text(json.dumps(event), "utf-8")
        called = _sam("local", "invoke", function, "-e", str(BUILT / "event.json"), *self._options, engine=self.engine)
        assert called.stdout, called.stderr
        answer = json.loads(called.stdout)
        if isinstance(answer, dict) and "errorType" in answer:
            raise Failed(f"{answer['errorType']}: {answer['errorMessage']}")
        return answer

    def invoke_as_typed(self, function: str, event: Path) -> Any:
        """Run the command as docs/sam.md has it, with the built template as it is; the image is the only thing told."""
        options = ["--skip-pull-image", "--invoke-image", self.image, "--region", REGION]
        options += ["--template", str(BUILT / "template.yaml"), "--parameter-overrides", f"Architecture={ARCHITECTURE}"]
        return json.loads(_sam("local", "invoke", function, "-e", str(event), *options, engine=self.engine).stdout)

    @contextmanager
    def api(self) -> Iterator[str]:
        """Run `sam local start-api`, and give its address."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            str(BIN / "sam"),
            "local",
            "start-api",
            "--port",
            str(port),
            "--warm-containers",
            "LAZY",
            *self._options,
        ]
        with (BUILT / "api.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=CHECKOUT, env=_variables(self.engine), stdout=log, stderr=log)
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(60)

    @property
    def _options(self) -> list[str]:
        options = {
            "--template": BUILT / "with-cloud.json",
            "--env-vars": BUILT / "variables.json",
            "--invoke-image": self.image,
            "--layer-cache-basedir": LAYERS,
            "--region": REGION,
            "--parameter-overrides": f"Architecture={ARCHITECTURE}",
        }
        return ["--skip-pull-image", *(str(part) for option in options.items() for part in option)]


def _published(layer: str) -> str:
    """Lay a built layer where SAM keeps those it fetched, and return its name there."""
    # By its content: an engine that runs on keeps the images of other builds.
    digest = hashlib.sha256()
    for file in sorted(file for file in (BUILT / layer).rglob("*") if file.is_file()):
        digest.update(f"{file.relative_to(BUILT)} {len(data := file.read_bytes())} ".encode() + data)
    arn = f"arn:aws:lambda:{REGION}:123456789012:layer:{layer}-{digest.hexdigest()[:12]}:1"
    (LAYERS / LayerVersion(arn, None).name).symlink_to(BUILT / layer)
    return arn


def _sam(
    *arguments: str, engine: Engine | None = None, seconds: float = SECONDS_TO_CALL
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [BIN / "sam", *arguments],
        cwd=CHECKOUT,
        env=_variables(engine),
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == 0, f"sam {' '.join(arguments[:3])}: {done.stderr}"
    return done


def _variables(engine: Engine | None) -> dict[str, str]:
    # Python 3.13 of the environment has to be found by its name.
    path = {"PATH": f"{BIN}:{os.environ['PATH']}", "SAM_CLI_TELEMETRY": "0", "ARCH": ARCHITECTURE}
    return os.environ | LOGIN | path | (engine.variables if engine else {})


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError((BUILT / "api.log").read_text(errors="replace"))
