"""The commands a person types: what they do on machines with and without the tools they look for."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SYNC = "sync --frozen --inexact --all-extras --compile-bytecode"
TOOLS = ("sh", "dirname", "mkdir", "cp", "grep", "sed", "chmod", "cat")

BROKEN_UV = "echo 'uv: command not found' >&2; exit 127"
RECORDING_UV = '[ "$1" = --version ] || echo "uv $* python=${UV_PYTHON:-} into=$UV_PROJECT_ENVIRONMENT"'
OLD_PYTHON = "exit 1"
RIGHT_PYTHON = """
case "$1 $2" in
    "-c "*) echo "$0" ;;
    "-m venv") mkdir -p .uv/bin; cp "$0" .uv/bin/python ;;
    "-m pip") { echo '#!/bin/sh'; cat uv-to-install; } > .uv/bin/uv; chmod +x .uv/bin/uv; echo "pip $*" ;;
esac
"""


class Machine:
    """A machine with a few commands and a checkout."""

    def __init__(self, root: Path) -> None:
        self.commands = root / "bin"
        self.checkout = root / "checkout"
        self.commands.mkdir()
        for tool in TOOLS:
            (self.commands / tool).symlink_to(str(shutil.which(tool)))
        shutil.copytree(CHECKOUT / "scripts", self.checkout / "scripts")
        (self.checkout / "uv-to-install").write_text(RECORDING_UV)

    def has(self, name: str, script: str) -> None:
        """Give it a command."""
        command = self.commands / name
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(0o755)

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the checkout."""
        return subprocess.run(
            [self.checkout / "scripts" / script, *arguments],
            env={"PATH": str(self.commands), "HOME": str(self.checkout)},
            check=False,
            capture_output=True,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_uv_that_works_makes_the_environment_from_the_lock_file(machine: Machine) -> None:
    machine.has("uv", RECORDING_UV)
    done = machine.run("environment")
    assert done.stdout == f"uv {SYNC} --no-extra fast-voice python= into=.venv\n"
    assert done.returncode == 0


def test_the_voice_under_the_gpl_is_installed_only_where_it_is_asked_for(machine: Machine) -> None:
    machine.has("uv", RECORDING_UV)
    assert machine.run("environment", "fast-voice").stdout == f"uv {SYNC} python= into=.venv\n"


def test_a_uv_that_only_complains_gives_way_to_one_of_our_own(machine: Machine) -> None:
    machine.has("uv", BROKEN_UV)
    machine.has("python3.13", RIGHT_PYTHON)
    done = machine.run("environment")
    assert done.returncode == 0, done.stderr
    assert "-m pip install --quiet uv>=" in done.stdout
    assert f"{SYNC} --no-extra fast-voice python={machine.commands / 'python3.13'} into=.venv" in done.stdout
    again = machine.run("environment")
    assert "pip" not in again.stdout


def test_python_3_13_may_also_be_called_python3(machine: Machine) -> None:
    machine.has("python3.13", OLD_PYTHON)
    machine.has("python3", RIGHT_PYTHON)
    assert f"python={machine.commands / 'python3'} " in machine.run("environment").stdout


def test_with_neither_one_line_says_how_to_get_one(machine: Machine) -> None:
    machine.has("uv", BROKEN_UV)
    machine.has("python3", OLD_PYTHON)
    done = machine.run("environment")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Python 3.13 (with venv) or uv is needed: see https://")
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def wanted(machine: Machine) -> str:
    file = machine.checkout / "debian-packages.txt"
    file.write_text("# what tests need\nchromium  # the page\nffmpeg\n")
    return str(file)


def test_packages_that_are_there_are_left_alone(machine: Machine, wanted: str) -> None:
    machine.has("dpkg-query", "echo 'install ok installed'")
    machine.has("apt-get", "echo called; exit 1")
    done = machine.run("debian-packages", wanted)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_without_root_the_one_line_to_type_is_printed_and_the_run_fails(machine: Machine, wanted: str) -> None:
    machine.has("dpkg-query", "exit 1")
    machine.has("apt-get", "echo called")
    machine.has("id", "echo 1000")
    done = machine.run("debian-packages", wanted)
    assert (done.stdout, done.returncode) == ("", 1)
    assert done.stderr == "sudo apt-get install -y chromium ffmpeg\n"


def test_root_gets_what_is_missing_at_once(machine: Machine, wanted: str) -> None:
    machine.has("dpkg-query", 'case "$*" in *ffmpeg) echo "install ok installed" ;; *) exit 1 ;; esac')
    machine.has("apt-get", 'echo "apt-get $*"')
    machine.has("id", "echo 0")
    done = machine.run("debian-packages", wanted)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "apt-get install -y -qq --no-install-recommends chromium"


def test_other_systems_are_told_what_is_missing(machine: Machine, wanted: str) -> None:
    machine.has("ffmpeg", "exit 0")
    done = machine.run("debian-packages", wanted)
    assert done.returncode == 1
    assert done.stderr == "The tests need these programs, by the package manager of your system: chromium\n"


def test_ci_runs_the_test_command_of_the_readme_and_the_tests_in_docker_and_nothing_else() -> None:
    lines = (CHECKOUT / ".ci/run").read_text().splitlines()
    assert lines[:2] == ["#!/usr/bin/env bash", "set -euo pipefail"]
    assert lines[-2:] == ["make test", "exec make test-sam"]
    assert "make test " in (CHECKOUT / "README.md").read_text()
    assert os.access(CHECKOUT / ".ci/run", os.X_OK)


def test_make_alone_shows_what_there_is() -> None:
    shown = subprocess.run(["make"], cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    for target in ("run", "test", "check", "format", "models", "fast-voice", "bench", "test-sam", "deploy", "clean"):
        assert f"make {target} " in shown
