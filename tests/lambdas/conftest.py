"""The functions as they are built, once for all tests; and the two clouds that run them."""

import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.architecture.source_tree import CHECKOUT
from tests.fakes.vendor import Answer, FakeGroq
from tests.lambdas.artifacts import ARCHITECTURE, Artifacts
from tests.lambdas.cloud import LocalCloud, local_cloud
from tests.lambdas.trials import Trial, trial


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Artifacts:
    """Return what is deployed, built where it has changed."""
    subprocess.run([CHECKOUT / "scripts/build", "all", ARCHITECTURE], check=True, capture_output=True)
    return Artifacts(tmp_path_factory.mktemp("lambda"))


@pytest.fixture(scope="session")
def streaming(artifacts: Artifacts) -> Iterator[Trial]:
    """Return the tests' own functions behind an API that streams."""
    with trial(artifacts, streams=True) as running:
        yield running


@pytest.fixture(scope="session")
def buffered(artifacts: Artifacts) -> Iterator[Trial]:
    """Return the same where nothing streams."""
    with trial(artifacts, streams=False) as running:
        yield running


def said(body: Mapping[str, Any]) -> Answer:
    """Answer a classifier at once, and never a question that asks for it."""
    is_question = body.get("temperature") != 0 and "never" in str(body["messages"][-1]["content"])
    return Answer(seconds_to_first=60) if is_question else Answer()


@pytest.fixture(scope="session")
def local_deployment(artifacts: Artifacts) -> Iterator[LocalCloud]:
    """Return the whole deployment."""
    with local_cloud(artifacts, FakeGroq(chat=said), Architecture=ARCHITECTURE) as running:
        yield running
