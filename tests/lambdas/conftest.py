"""The functions as they are built, once for all tests; and the two clouds that run them."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import CHECKOUT
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


@pytest.fixture(scope="session")
def local_deployment(artifacts: Artifacts) -> Iterator[LocalCloud]:
    """Return the whole deployment."""
    with local_cloud(artifacts, {"GROQ_API_KEY": "gsk_test"}, Architecture=ARCHITECTURE) as running:
        yield running
