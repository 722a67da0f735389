"""The templates and the state machines, as the tools of their languages read them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import CHECKOUT
from tests.infra.transformed import REGION

BIN = Path(sys.executable).parent
TEMPLATES = [CHECKOUT / "template.yaml", *sorted(CHECKOUT.glob("infra/*.yaml"))]
STATE_MACHINES = sorted(CHECKOUT.glob("infra/*.asl.json"))
VALIDATOR = CHECKOUT / "tests/npm/node_modules/.bin/asl-validator"


def told(*command: str | Path) -> str:
    """Run a tool; return what it complains of, nothing when it is content."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=CHECKOUT,
        env={"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "SAM_CLI_TELEMETRY": "0", "HOME": "/tmp"},  # noqa: S108
    )
    return "" if done.returncode == 0 else f"{done.stdout}{done.stderr}" or "failed without a word"


def test_the_templates_lint() -> None:
    assert told(BIN / "cfn-lint", "--regions", REGION, "--", *TEMPLATES) == ""


def test_sam_takes_the_template() -> None:
    assert told(BIN / "sam", "validate", "--lint", "--template", TEMPLATES[0]) == ""


@pytest.mark.parametrize("machine", STATE_MACHINES, ids=lambda path: path.name)
def test_a_state_machine_is_valid(machine: Path) -> None:
    assert told(VALIDATOR, "--json-path", machine) == ""


def test_the_validator_sees_a_state_that_is_missing(tmp_path: Path) -> None:
    broken = tmp_path / "broken.asl.json"
    broken.write_text(STATE_MACHINES[0].read_text().replace('"StartAt": "FollowUp"', '"StartAt": "Nowhere"'))
    assert "Nowhere" in told(VALIDATOR, "--json-path", broken)
