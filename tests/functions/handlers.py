"""The handlers as Lambda finds them: files outside the package."""

from functools import cache
from pathlib import Path
from runpy import run_path

from tertulia.entrypoints.aws import HttpHandler

FUNCTIONS = Path(__file__).parents[2] / "functions"


@cache
def handler_of(function: str) -> HttpHandler:
    """Load a function's handler."""
    found = run_path(str(FUNCTIONS / function / "handler.py"))["handler"]
    assert isinstance(found, HttpHandler)
    return found
