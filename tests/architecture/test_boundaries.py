"""Who may import what, and who may catch what."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import CHECKOUT, PACKAGE, Module, product

HOMES = {
    "fastapi": ("entrypoints",),
    "starlette": ("entrypoints",),
    "mangum": ("entrypoints",),
    "uvicorn": ("entrypoints/server.py",),
    "typer": ("entrypoints",),
    "rich": ("entrypoints",),
    "boto3": ("adapters/aws", "entrypoints/aws.py"),
    "botocore": ("adapters/aws", "entrypoints/aws.py"),
    "awslambdaric": ("entrypoints/streaming",),
    "aws_lambda_powertools": ("adapters/aws", "entrypoints"),
    "langgraph": ("answering",),
    "groq": ("adapters/groq",),
    "langchain_core": ("adapters", "answering"),
    "av": ("adapters/embedded",),
    "soundfile": ("adapters/embedded",),
    "aiosqlite": ("adapters/embedded",),
    "sqlite3": ("adapters/embedded",),
    "faster_whisper": ("adapters/embedded",),
    "onnxruntime": ("adapters/embedded",),
    "sanotts": ("adapters/embedded",),
    "tokenizers": ("adapters/embedded",),
    "xllamacpp": ("adapters/embedded",),
}
"""Where each library may be imported, in functions too."""

EDGES = ("entrypoints", "answering/acting.py")
"""Where any failure may be caught: nothing above would."""

STANDARD_LIBRARY = sys.stdlib_module_names


def home_of(module: Module) -> str:
    return str(module.path.relative_to(PACKAGE)) if module.path.is_relative_to(PACKAGE) else module.name


def is_at(module: Module, places: tuple[str, ...]) -> bool:
    return any(Path(home_of(module)).is_relative_to(place) for place in places)


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_imported_only_in_its_home(library: str) -> None:
    users = [module for module in product() if library in module.imports]
    assert [module.name for module in users if not is_at(module, HOMES[library])] == []


def test_the_domain_needs_nothing_but_python() -> None:
    foreign = {
        module.name: sorted(module.imports - STANDARD_LIBRARY - {"tertulia"})
        for module in product()
        if is_at(module, ("domain",))
    }
    assert {name: imports for name, imports in foreign.items() if imports} == {}


def test_any_failure_is_caught_only_at_the_edges_unless_it_is_raised_again() -> None:
    broad = [
        f"{module.name}:{handler.lineno}"
        for module in product()
        if not is_at(module, EDGES)
        for handler in ast.walk(module.tree)
        if isinstance(handler, ast.ExceptHandler) and catches_everything(handler) and not raises_again(handler)
    ]
    assert broad == []


def catches_everything(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {name.id for name in ast.walk(handler.type) if isinstance(name, ast.Name)}
    return not names.isdisjoint({"Exception", "BaseException"})


def raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_the_layers_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([linter, "--no-cache"], cwd=CHECKOUT, check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
