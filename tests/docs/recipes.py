"""Reads the recipes of `docs/changing.md` and carries them out in a copy of the project."""

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs/changing.md"
COPIED = ("layers/tertulia/tertulia", "functions", "tests", "pyproject.toml", "template.yaml")

_BLOCK = re.compile(r"^```(\S+) (\S.*)\n((?:.*\n)*?)```$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block with what its info string says: where its text goes."""

    info: dict[str, str]
    text: str

    @property
    def path(self) -> str:
        """The file it makes or changes."""
        return self.info.get("new") or self.info.get("file") or self.info["check"]

    def carry_out(self, project: Path) -> None:
        """Make the file, or put the text after or in the place of the one line that holds the anchor."""
        place = project / self.path
        if "file" not in self.info:
            assert not place.exists(), f"{self.path} is there already"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(self.text, "utf-8")
            return
        anchor = self.info.get("after") or self.info["replace"]
        lines = place.read_text("utf-8").splitlines(keepends=True)
        found = [number for number, line in enumerate(lines) if anchor in line]
        assert len(found) == 1, f"{self.path} has {len(found)} lines with {anchor!r}"
        lines[found[0] + ("after" in self.info) : found[0] + 1] = [self.text]
        place.write_text("".join(lines), "utf-8")


@dataclass(frozen=True)
class Recipe:
    """One section of the page."""

    title: str
    edits: tuple[Block, ...]
    checks: tuple[Block, ...]

    @property
    def files(self) -> set[str]:
        """The files it makes or changes, its test apart."""
        return {edit.path for edit in self.edits}


def recipes() -> list[Recipe]:
    """Return the recipes of the page."""
    _, *sections = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return [_recipe(*section.split("\n", 1)) for section in sections]


def _recipe(title: str, text: str) -> Recipe:
    blocks = [
        Block(dict(part.split("=", 1) for part in shlex.split(info)), body) for _, info, body in _BLOCK.findall(text)
    ]
    checks = tuple(block for block in blocks if "check" in block.info)
    return Recipe(title, tuple(block for block in blocks if block not in checks), checks)


def copy_project(to: Path) -> Path:
    """Copy what a recipe may change and what its test needs."""
    for name in COPIED:
        source, target = CHECKOUT / name, to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    return to
