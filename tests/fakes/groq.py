"""Fixtures: a vendor that behaves like Groq, and our connection to it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from tertulia.adapters.groq.connection import GroqConnection
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import FakeGroq, serving

KEY = "gsk_test"


@pytest.fixture(scope="session")
def vendor_server() -> Iterator[tuple[FakeGroq, str]]:
    """Run one server for all tests; give it with its address."""
    vendor = FakeGroq()
    with serving(vendor) as address:
        yield vendor, address


@pytest.fixture
def vendor(vendor_server: tuple[FakeGroq, str]) -> FakeGroq:
    """Give the vendor, which has forgotten the test before."""
    vendor_server[0].forget()
    return vendor_server[0]


@pytest.fixture
def clock() -> FakeClock:
    """Give a clock that never makes a test wait."""
    return FakeClock()


@pytest.fixture
async def groq(
    vendor: FakeGroq, vendor_server: tuple[FakeGroq, str], clock: FakeClock
) -> AsyncIterator[GroqConnection]:
    """Connect to the vendor."""
    connection = GroqConnection(SecretStr(KEY), clock, vendor_server[1])
    yield connection
    await connection.close()
