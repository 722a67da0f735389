"""Fixtures: a vendor that behaves like Groq, and our connection to it."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol

import pytest
from pydantic import SecretStr

from tertulia.adapters.groq.connection import GroqConnection
from tertulia.ports import ChatModel
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import Answer, Called, Chatted, Failure, FakeGroq, serving

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
async def groq(vendor_server: tuple[FakeGroq, str], clock: FakeClock) -> AsyncIterator[GroqConnection]:
    """Connect to the vendor."""
    vendor_server[0].forget()
    connection = GroqConnection(SecretStr(KEY), clock, vendor_server[1])
    yield connection
    await connection.close()


class Served(Protocol):
    """A small server of chats."""

    chats: list[Chatted]
    left: int


class ServedVendor:
    """A model behind a small server, as the contract of chat models tells a vendor what to do."""

    def __init__(self, server: Served, model: ChatModel) -> None:
        self._server = server
        self._model = model

    def writing(self, *pieces: str) -> ChatModel:
        self._server.chats = [Answer(pieces=pieces)]
        return self._model

    def calling(self, name: str, arguments: str) -> ChatModel:
        self._server.chats = [Answer(pieces=(), calls=(Called(name=name, pieces=tuple(arguments)),))]
        return self._model

    def failing(self) -> ChatModel:
        self._server.chats = [Failure(status=500)] * 3
        return self._model

    def writing_for_ever(self) -> tuple[ChatModel, Callable[[], bool]]:
        self._server.chats = [Answer(pieces=("on ",) * 100_000)]
        return self._model, self._was_stopped

    def _was_stopped(self) -> bool:
        for _ in range(100):
            if self._server.left:
                return True
            time.sleep(0.01)
        return False
