"""Every recipe of `docs/changing.md` works as written, in a fresh copy of the project."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.recipes import Recipe, copy_project, recipes

WANTED = {"provider", "tool", "scenario", "route", "event", "endpoint"}
BIN = Path(sys.executable).parent


def run(project: Path, *command: str) -> None:
    """Run a command in the copy, whose package comes before the checkout's."""
    # Half of the time would go into plugins of libraries that no recipe uses.
    own = {
        "PYTHONPATH": os.pathsep.join((str(project / "layers/tertulia"), str(project))),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        [BIN / command[0], *command[1:]],
        cwd=project,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_recipe_for_each_common_change() -> None:
    assert {recipe.title.split()[-1] for recipe in recipes()} == WANTED


@pytest.mark.parametrize("recipe", [pytest.param(one, id=one.title.split()[-1]) for one in recipes()])
def test_a_recipe_works_as_it_is_written(recipe: Recipe, tmp_path: Path) -> None:
    assert 1 <= len(recipe.files) <= 3
    assert len(recipe.checks) == 1
    project = copy_project(tmp_path)
    for block in (*recipe.edits, *recipe.checks):
        block.carry_out(project)
    [check] = recipe.checks
    code = [name for name in {*recipe.files, check.path} if name.endswith(".py")]
    run(project, "ruff", "check", "--no-cache", *code)
    run(project, "ruff", "format", "--no-cache", "--check", *code)
    also = check.info.get("also", "").split()
    plugins = ("-p", "pytest_asyncio.plugin", "-p", "pytest_socket", "-p", "no:cacheprovider")
    run(project, "python", "-m", "pytest", "-q", *plugins, check.path, *also)
