"""The handlers as Lambda finds them: files outside the package."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from runpy import run_path
from typing import Any, cast

from tertulia.entrypoints.aws import HttpHandler

FUNCTIONS = Path(__file__).parents[2] / "functions"


@cache
def handler_of(function: str) -> HttpHandler:
    """Load the handler of a function that answers requests."""
    found = task_of(function)
    assert isinstance(found, HttpHandler)
    return found


@cache
def task_of(function: str) -> Callable[[object, object], Any]:
    """Load a function's handler, whatever it answers."""
    return cast(Callable[[object, object], Any], run_path(str(FUNCTIONS / function / "handler.py"))["handler"])
