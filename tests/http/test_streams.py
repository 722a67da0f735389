"""The response that writes events: patient with the model, quick to notice that nobody listens."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tertulia.domain.errors import ModelDown, TertuliaError
from tertulia.entrypoints.http.sse import EventStream, ServerEvent, StreamHabits
from tests.http.event_reader import EventReader


class Connection:
    """The other end of a response."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def read(self) -> EventReader:
        reader = EventReader()
        reader.feed(b"".join(message.get("body", b"") for message in self.sent))
        return reader


async def events(*steps: float | Exception) -> AsyncGenerator[ServerEvent]:
    """Yield an event after each wait."""
    for number, step in enumerate(steps, start=1):
        if isinstance(step, Exception):
            raise step
        await asyncio.sleep(step)
        yield ServerEvent("token", {"text": "a"}, number)


@pytest.mark.parametrize("error", [ModelDown(), RuntimeError("key=abc")])
async def test_a_failure_before_the_first_event_is_raised(error: Exception) -> None:
    connection = Connection()

    with pytest.raises(type(error)):
        await EventStream(events(error), StreamHabits())({}, connection.receive, connection.send)

    assert connection.sent == []


@pytest.mark.parametrize(
    ("error", "code"), [(ModelDown(), "model_down"), (RuntimeError("key=abc"), TertuliaError.code)]
)
async def test_a_failure_later_is_the_last_event_and_leaks_nothing(error: Exception, code: str) -> None:
    connection = Connection()

    await EventStream(events(0, error), StreamHabits())({}, connection.receive, connection.send)

    last = connection.read().events[-1]
    assert (last.name, last.json["code"], last.id) == ("error", code, "2")
    assert "abc" not in last.data
    assert connection.sent[-1]["more_body"] is False


async def test_a_slow_beginning_is_not_waited_for_to_the_end() -> None:
    connection = Connection()

    await EventStream(events(0.1, ModelDown()), StreamHabits(refusal_seconds=0))(
        {}, connection.receive, connection.send
    )

    reader = connection.read()
    assert connection.sent[1]["body"] == b": ping\n\n"
    assert [event.name for event in reader.events] == ["token", "error"]


async def test_who_leaves_is_noticed_while_the_model_thinks() -> None:
    connection, left = Connection(), []
    stream = EventStream(events(0, 60), StreamHabits(), when_left=lambda: left.append(True))
    sending = asyncio.create_task(stream({}, connection.receive, connection.send))
    await asyncio.sleep(0.05)

    connection.left.set()
    await asyncio.wait_for(sending, 1)

    assert left == [True]


async def test_a_stream_that_ends_by_itself_has_not_been_left() -> None:
    connection, left = Connection(), []

    await EventStream(events(0, 0), StreamHabits(), when_left=lambda: left.append(True))(
        {}, connection.receive, connection.send
    )

    assert left == []
    assert len(connection.read().events) == 2
