"""A way to devices that remembers what went down."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tertulia.domain.prompts import Json


@dataclass
class RememberingLink:
    """Keeps messages and speech by device."""

    messages: list[dict[str, Json]] = field(default_factory=list)
    speech: dict[tuple[str, int], bytes] = field(default_factory=dict)

    async def send(self, device_id: str, message: Mapping[str, Json]) -> None:
        self.messages.append({"device": device_id, **message})

    async def send_speech(self, device_id: str, turn_id: str, slice_number: int, data: bytes) -> None:
        self.speech[turn_id, slice_number] = data

    @property
    def kinds(self) -> list[str]:
        """The kinds of messages, in order, each run of tokens as one."""
        kinds = [message["type"] for message in self.messages]
        return [kind for place, kind in enumerate(kinds) if kind != "token" or kinds[place - 1] != "token"]

    def only(self, kind: str) -> dict[str, Json]:
        """Return the one message of a kind."""
        [message] = [message for message in self.messages if message["type"] == kind]
        return message
