"""Each handler finds what it imports in its own layers, and nothing is imported before it is needed."""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest

from packing import sizes
from packing.plan import functions

BROUGHT_BY_LAMBDA = ("boto3", "botocore", "s3transfer", "jmespath", "python-dateutil", "six", "urllib3", "simplejson")
LATER = ("langgraph", "langchain_core", "langsmith", "numpy", "onnxruntime", "tokenizers", "soundfile", "groq")
"""What only a turn, or one of its routes, needs."""
NEEDED_LATER = {
    "chat": ("groq", "langgraph.graph", "onnxruntime", "tokenizers"),
    "voice": ("groq", "langgraph.graph", "onnxruntime", "tokenizers", "soundfile"),
    "tts": ("groq",),
    "router": ("groq",),
    "extract_memories": ("groq", "onnxruntime", "tokenizers", "mem0.client.main"),
    "memories": ("onnxruntime", "tokenizers", "mem0.client.main"),
    "index_summary": ("onnxruntime", "tokenizers"),
    "summarize": ("groq",),
}
REPORT = """
import importlib, json, sys
sys.path[:] = [*json.loads(sys.argv[1]), *sys.path]
for name in sys.argv[2:]:
    importlib.import_module(name)
print(json.dumps(sorted(sys.modules)))
"""


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the packages of Lambda's own runtime."""
    folder = tmp_path_factory.mktemp("runtime")
    for name in BROUGHT_BY_LAMBDA:
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if ".." not in file.parts}:
            (folder / top).symlink_to(str(found.locate_file(top)))
    return folder


def imported(built: Path, runtime: Path, function: str, modules: Sequence[str]) -> set[str]:
    """Import modules as a function would, with nothing else in reach; returns all that is loaded then."""
    names = sizes.layers_of_functions()[function]
    paths = [str(built / "functions" / function), *(str(built / "layers" / name / "python") for name in names)]
    return set(_loaded((*paths, str(runtime)), tuple(modules)))


@cache
def _loaded(paths: tuple[str, ...], modules: tuple[str, ...]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", REPORT, json.dumps(paths), *modules],
        env={"AWS_DEFAULT_REGION": "eu-central-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded: list[str] = json.loads(done.stdout.splitlines()[-1])
    return loaded


@pytest.mark.parametrize("function", functions())
def test_a_handler_imports_from_its_own_layers_and_loads_nothing_early(
    built: Path, runtime: Path, function: str
) -> None:
    early = {name.partition(".")[0] for name in imported(built, runtime, function, ["handler"])} & set(LATER)
    assert early == set()


@pytest.mark.parametrize("function", NEEDED_LATER)
def test_what_a_handler_loads_later_is_in_its_layers_too(built: Path, runtime: Path, function: str) -> None:
    imported(built, runtime, function, NEEDED_LATER[function])


def test_the_flow_of_an_answer_is_known_without_langgraph(built: Path, runtime: Path) -> None:
    loaded = imported(built, runtime, "chat", ["tertulia.assistant.turns", "tertulia.assistant.groq"])
    assert not {"langgraph", "langchain_core", "groq"} & loaded
