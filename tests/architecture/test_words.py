"""Names, docstrings, and what no file may hold."""

import ast
import re

from tests.architecture.source_tree import CHECKOUT, everything, product, tracked_files

VAGUE = {"utils", "util", "helpers", "helper", "common", "shared", "manager", "base", "misc", "service"}

MACHINE = re.compile(r"/(?:root|home|Users|work)/[\w.-]+|/tmp/[\w.-]+\.\w+")
REGISTRY = re.compile(r"(?:files\.pythonhosted|pypi|registry\.npmjs|npmjs)\.(?:org|com)|artifactory|--index-url", re.I)
PLACES = {
    "tests/architecture/test_words.py": "holds the patterns themselves",
}


def test_no_module_has_a_vague_name() -> None:
    parts = {(part, module.name) for module in everything() for part in module.path.with_suffix("").parts[-3:]}
    assert sorted(name for part, name in parts if part in VAGUE) == []


def test_every_module_says_in_one_sentence_what_it_is_for() -> None:
    bare = [module.name for module in everything() if module.text.strip() and not ast.get_docstring(module.tree)]
    assert bare == []


def test_a_docstring_begins_with_one_sentence_and_lists_no_arguments() -> None:
    wrong = []
    for module in product():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            text = ast.get_docstring(node) or "."
            first = text.split("\n\n")[0]
            if not first.rstrip("`").endswith((".", "!", "?", ":")) or re.search(
                r"^(Args|Returns|Raises):", text, re.M
            ):
                wrong.append(f"{module.name}:{getattr(node, 'lineno', 1)}")
    assert wrong == []


def test_no_file_names_a_machine_or_a_package_registry() -> None:
    found = []
    for path in tracked_files():
        name = str(path.relative_to(CHECKOUT))
        if name in PLACES:
            continue
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
            if MACHINE.search(line) or REGISTRY.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert found == []


def test_no_file_leaves_work_for_later() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!.*#\d)")
    code = [module for module in everything() if module.name not in PLACES]
    found = [
        f"{module.name}:{number}"
        for module in code
        for number, line in enumerate(module.text.splitlines(), start=1)
        if "#" in line and marks.search(line.split("#", 1)[1])
    ]
    assert found == []
