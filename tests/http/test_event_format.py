"""Events arrive as they were sent, wherever the network cuts them."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.entrypoints.http.sse import PING, ServerEvent, encoded
from tests.http.event_reader import EventReader, events_in

TEXTS = st.text(alphabet=st.characters(codec="utf-8"))
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, lambda inner: st.lists(inner, max_size=3))


def fed(body: bytes, cuts: list[int]) -> EventReader:
    reader = EventReader()
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    for start, end in pairwise(places):
        reader.feed(body[start:end])
    return reader


@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=5), st.lists(st.integers(0, 10_000), max_size=20))
def test_events_come_back_whole_at_any_split(datas: list[dict[str, Any]], cuts: list[int]) -> None:
    sent = [ServerEvent("token", data, number) for number, data in enumerate(datas, start=1)]
    body = PING.join(encoded(event) for event in sent)

    events = fed(body, cuts).events

    assert [(event.name, event.json, event.id) for event in events] == [
        ("token", event.data, str(event.number)) for event in sent
    ]


@given(TEXTS)
def test_an_event_is_one_line_each_of_event_data_and_id(text: str) -> None:
    lines = encoded(ServerEvent("token", {"text": text}, 7)).decode().split("\n")

    assert len(lines) == 5
    assert lines[0] == "event: token"
    assert lines[1].startswith('data: {"text":"')
    assert lines[2:] == ["id: 7", "", ""]
    assert "\r" not in lines[1]


def test_line_ends_and_leading_spaces_of_tokens_survive() -> None:
    """Case E1."""
    tokens = ["a", "\n", "\n", "  b", "\r\n", " c", "data: x"]

    body = b"".join(encoded(ServerEvent("token", {"text": token}, place)) for place, token in enumerate(tokens, 1))

    assert "".join(event.json["text"] for event in events_in(body)) == "a\n\n  b\r\n cdata: x"


def test_characters_of_several_bytes_survive_byte_by_byte() -> None:
    """Case E2."""
    body = encoded(ServerEvent("token", {"text": "你好🌍é"}, 1))
    reader = EventReader()

    for place in range(len(body)):
        reader.feed(body[place : place + 1])

    assert reader.events[0].json == {"text": "你好🌍é"}
    assert "🌍".encode() in body


def test_half_a_surrogate_pair_does_not_break_the_stream() -> None:
    assert events_in(encoded(ServerEvent("token", {"text": "a\ud800"}, 1)))[0].json == {"text": "a?"}


@pytest.mark.parametrize("ending", ["\n", "\r", "\r\n"])
def test_the_reader_itself_takes_every_line_end_of_the_standard(ending: str) -> None:
    body = ending.join(["event: a", ": note", "data: 1", "data:2", "id: 3", "", "data: lost"])

    assert [(event.name, event.data, event.id) for event in events_in(body.encode())] == [("a", "1\n2", "3")]
