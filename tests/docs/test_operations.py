"""The pages about running it say what is there: alarms, commands, events, and costs that are computed."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from benchmarks.costs import table
from tertulia.entrypoints.cli import app

CHECKOUT = Path(__file__).parents[2]
OPERATIONS = (CHECKOUT / "docs/operations.md").read_text("utf-8")
SAM = (CHECKOUT / "docs/sam.md").read_text("utf-8")
COMMANDS = sorted(set(re.findall(r"(?:`|^)(tertulia [a-z][^`\n(]*)", OPERATIONS + SAM, re.MULTILINE)))


def test_the_costs_are_those_that_the_prices_and_the_measured_turns_give() -> None:
    shown = OPERATIONS.split("<!-- costs -->\n")[1].split("\n<!-- end of costs -->")[0]
    assert shown == table(), "python -m benchmarks.costs prints the new one"


def test_every_alarm_has_its_line_and_every_line_its_alarm() -> None:
    alarms = re.findall(
        r"^  (\w+):\n    Type: AWS::CloudWatch::Alarm",
        (CHECKOUT / "infra/observability.yaml").read_text("utf-8"),
        re.MULTILINE,
    )
    section = OPERATIONS.split("## Alarms")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == alarms


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_ours_is_one(command: str) -> None:
    _, name, *rest = shlex.split(command.replace("…", "1"))
    found = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    if hasattr(found, "commands"):
        found = found.commands[rest.pop(0)]
    known = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= known


def test_every_recorded_event_that_is_named_exists_and_each_has_a_line() -> None:
    named = set(re.findall(r"^\| `([a-z_]+\.json)`", SAM, re.MULTILINE))
    there = {
        file.name for file in (CHECKOUT / "tests/events").glob("*.json") if not file.name.startswith(("rest_", "http_"))
    }
    assert named == there
    for path in re.findall(r"tests/events/\w+\.json", SAM):
        assert (CHECKOUT / path).is_file()
