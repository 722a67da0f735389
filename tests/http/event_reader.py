"""A reader of server-sent events as the standard describes one, fed bytes at any split."""

import codecs
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Event:
    """One dispatched event."""

    name: str
    data: str
    id: str

    @property
    def json(self) -> Any:
        return json.loads(self.data)


@dataclass
class EventReader:
    """Bytes in, events out; comments and unknown fields are ignored, an unfinished event is dropped."""

    events: list[Event] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    retry: int | None = None
    _decoder: Any = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("strict"))
    _line: str = ""
    _after_return: bool = False
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _id: str = ""

    def feed(self, data: bytes) -> None:
        for character in self._decoder.decode(data):
            if character == "\n" and self._after_return:
                self._after_return = False
                continue
            self._after_return = character == "\r"
            if character in "\r\n":
                line, self._line = self._line, ""
                self._end_line(line)
            else:
                self._line += character

    def _end_line(self, line: str) -> None:
        if not line:
            if self._data:
                self.events.append(Event(self._name or "message", "\n".join(self._data), self._id))
            self._name, self._data = "", []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "":
                self.comments.append(value)
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "id":
                self._id = value
            case "retry":
                self.retry = int(value)


def events_in(body: bytes) -> list[Event]:
    """Return the events of a whole body."""
    reader = EventReader()
    reader.feed(body)
    return reader.events
