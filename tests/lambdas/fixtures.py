"""The functions as they are built, once for all tests; and the clouds that run them, for every test that names one.

What these need is slow to import, so it is imported by the first test that asks for it.
"""

import subprocess
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.fakes.vendor import Answer
    from tests.lambdas.artifacts import Artifacts
    from tests.lambdas.cloud import LocalCloud
    from tests.lambdas.trials import Trial


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> "Artifacts":
    """Return what is deployed, built where it has changed."""
    from tests.architecture.source_tree import CHECKOUT
    from tests.lambdas.artifacts import ARCHITECTURE, Artifacts

    subprocess.run([CHECKOUT / "scripts/build", "all", ARCHITECTURE], check=True, capture_output=True)
    return Artifacts(tmp_path_factory.mktemp("lambda"))


@pytest.fixture(scope="session")
def streaming(artifacts: "Artifacts") -> "Iterator[Trial]":
    """Return the tests' own functions behind an API that streams."""
    from tests.lambdas.trials import trial

    with trial(artifacts, streams=True) as running:
        yield running


@pytest.fixture(scope="session")
def buffered(artifacts: "Artifacts") -> "Iterator[Trial]":
    """Return the same where nothing streams."""
    from tests.lambdas.trials import trial

    with trial(artifacts, streams=False) as running:
        yield running


@pytest.fixture(scope="session")
def local_cloud(artifacts: "Artifacts") -> "Iterator[LocalCloud]":
    """Return the whole deployment."""
    from tests.fakes.vendor import FakeGroq
    from tests.lambdas.artifacts import ARCHITECTURE
    from tests.lambdas.cloud import deployed

    with deployed(artifacts, FakeGroq(chat=_said), Architecture=ARCHITECTURE) as running:
        yield running


def _said(body: Mapping[str, Any]) -> "Answer":
    """Answer a classifier at once, and never a question that asks for it."""
    from tests.fakes.vendor import Answer

    is_question = body.get("temperature") != 0 and "never" in str(body["messages"][-1]["content"])
    return Answer(seconds_to_first=60) if is_question else Answer()
