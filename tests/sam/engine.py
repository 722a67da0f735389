"""A Docker engine: the one that runs, else one of our own for as long as the tests last."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SECONDS_TO_START = 60
SECONDS_TO_STOP = 30


class NoEngine(Exception):
    """Says in one line what is needed."""


@dataclass(frozen=True)
class Engine:
    """A running engine."""

    host: str
    """Its address, or nothing for the one that Docker's own settings name."""

    @property
    def variables(self) -> dict[str, str]:
        """How programs find it."""
        return {"DOCKER_HOST": self.host} if self.host else {}

    def run(self, *arguments: str, data: IO[bytes] | None = None) -> str:
        """Run a command of the client and return what it prints."""
        done = subprocess.run(
            ["docker", *arguments],
            env=os.environ | self.variables,
            stdin=data or subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise NoEngine(f"docker {arguments[0]}: {done.stderr.decode().strip()}")
        return done.stdout.decode().strip()

    def has(self, image: str) -> bool:
        """Whether it holds an image."""
        return bool(self.run("images", "--quiet", image))

    @property
    def answers(self) -> bool:
        """Whether it runs."""
        try:
            self.run("version", "--format", "{{.Server.Version}}")
        except (NoEngine, FileNotFoundError):
            return False
        return True


@contextmanager
def docker_engine() -> Iterator[Engine]:
    """Give the running engine, or start one and end it afterwards with all that it made."""
    running = Engine("")
    if running.answers:
        yield running
        return
    if shutil.which("docker") is None or shutil.which("dockerd") is None:
        raise NoEngine("Docker is needed: sudo apt-get install -y --no-install-recommends docker.io iptables")
    if os.geteuid() != 0:
        raise NoEngine("Docker does not answer: start it (sudo systemctl start docker), or run this as root.")
    # Not the folder of the checkout: the path of a socket may have 108 bytes.
    temporary = tempfile.TemporaryDirectory(prefix="tertulia-docker-", ignore_cleanup_errors=True)
    with temporary as folder, _own_engine(Path(folder)) as engine:
        yield engine


@contextmanager
def _own_engine(folder: Path) -> Iterator[Engine]:
    engine = Engine(f"unix://{folder}/docker.sock")
    # The rules of the machine's firewall stay as they are: containers need only the bridge.
    command = ["dockerd", "--iptables=false", "--ip-forward=false", f"--host={engine.host}"]
    command += [f"--{name}={folder / place}" for name, place in _PLACES.items()]
    with (folder / "engine.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait(engine, process, folder / "engine.log")
        yield engine
    finally:
        process.terminate()
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


_PLACES = {"data-root": "data", "exec-root": "run", "pidfile": "docker.pid"}


def _wait(engine: Engine, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while not engine.answers:
        if process.poll() is not None or time.monotonic() > until:
            last = log.read_text(errors="replace").strip().splitlines()[-1:]
            raise NoEngine(f"Docker's engine does not start here: {' '.join(last) or 'it said nothing.'}")
        time.sleep(0.2)
