"""A ready assistant and a client of it."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tertulia.assistant import Assistant
from tests.conftest import MakeAssistant
from tests.http.clients import TWO_USERS, client_of


@pytest.fixture
def assistant(make_assistant: MakeAssistant) -> Assistant:
    """Return an assistant that says hello to everything."""
    return make_assistant()


@pytest.fixture
async def client(assistant: Assistant) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the assistant, as its single user."""
    async with client_of(assistant) as client:
        yield client


@pytest.fixture
async def shared(assistant: Assistant) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the assistant where a token is needed, and two users have one."""
    async with client_of(assistant, TWO_USERS) as client:
        yield client
