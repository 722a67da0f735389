"""The source files of the product, as the rules look at them."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PACKAGE = CHECKOUT / "layers/tertulia/tertulia"

type Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file."""

    path: Path

    @property
    def name(self) -> str:
        """Its path inside the checkout."""
        return str(self.path.relative_to(CHECKOUT))

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text("utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @property
    def length(self) -> int:
        """Its lines that are not blank."""
        return sum(1 for line in self.text.splitlines() if line.strip())

    @property
    def functions(self) -> Iterator[tuple[str, Function]]:
        """Its functions and methods by place."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{self.name}:{node.lineno} {node.name}", node

    @property
    def imports(self) -> set[str]:
        """The top-level packages that it imports anywhere, in functions too."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
        return {name.split(".")[0] for name in found}


def length_of(function: Function) -> int:
    """Count a function's lines from its name to its end, without its docstring."""
    assert function.end_lineno is not None
    first = function.body[0]
    docstring = 0
    if ast.get_docstring(function, clean=False) is not None and first.end_lineno is not None:
        docstring = first.end_lineno - first.lineno + 1
    return function.end_lineno - function.lineno + 1 - docstring


def modules(*folders: str) -> list[Module]:
    """Return the Python files under folders of the checkout; a folder that is not there has none."""
    return [Module(path) for folder in folders for path in sorted((CHECKOUT / folder).rglob("*.py"))]


def product() -> list[Module]:
    """Return everything that is shipped."""
    return modules("layers/tertulia/tertulia", "functions", "device_firmware_bridge")


def everything() -> list[Module]:
    """Return everything that is kept."""
    return [*product(), *modules("tests", "benchmarks")]


def tracked_files() -> list[Path]:
    """Return the files that the checkout keeps, without the lock file and without binary files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (CHECKOUT / name for name in listed.split("\0") if name and name != "uv.lock")
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8192]]
