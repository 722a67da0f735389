"""One build for all tests; it costs nothing where nothing has changed since the last."""

from pathlib import Path

import pytest

from packing.building import build
from packing.plan import Arch


@pytest.fixture(scope="session")
def built() -> Path:
    """Return the folder with the layers and functions for this machine."""
    return build(Arch.here())
