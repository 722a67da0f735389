"""Domain values to JSON and back: the one codec that event streams, stored events and device messages share."""

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, get_args

from pydantic import AwareDatetime, BaseModel, Discriminator, TypeAdapter, ValidationError

from tertulia.domain.confirmations import Confirmation
from tertulia.domain.devices import Said, Uplink, is_message_id
from tertulia.domain.prompts import Json
from tertulia.domain.replies import Numbered, ReplyEvent, Spoke
from tertulia.domain.turns import Turn

_EVENTS: TypeAdapter[ReplyEvent] = TypeAdapter(Annotated[ReplyEvent, Discriminator("type")])
_TURNS = TypeAdapter(Turn)
_SAID: TypeAdapter[Said] = TypeAdapter(Annotated[Said, Discriminator("type")])


class _Envelope(BaseModel):
    id: str
    at: AwareDatetime


_ENVELOPES = TypeAdapter(_Envelope)

EVENT_NAMES: tuple[str, ...] = tuple(kind.type for kind in get_args(ReplyEvent.__value__))
"""The names of all reply events, in the order in which a turn may send them."""

_NOT_SENT = frozenset({"call_id", "result", "retry_after", "interrupted"})
"""Fields that stored events keep and clients do not get, unless they say something."""


def event_to_json(event: ReplyEvent) -> dict[str, Json]:
    """Return every field of a reply event as plain JSON; sound is standard base64, not pydantic's URL-safe kind."""
    fields = asdict(event)
    if isinstance(event, Spoke):
        fields["audio"] = base64.b64encode(event.audio).decode()
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}


def event_from_json(fields: Mapping[str, Json]) -> ReplyEvent:
    """Read a reply event; raises ValueError for anything else."""
    if fields.get("type") == "speech":
        fields = {**fields, "audio": base64.b64decode(fields["audio"])}
    return _EVENTS.validate_python(fields)


def event_for_client(event: ReplyEvent) -> dict[str, Json]:
    """Return the fields a client sees beside the event's name."""
    fields = event_to_json(event)
    del fields["type"]
    return {name: value for name, value in fields.items() if name not in _NOT_SENT or value is True}


def confirmation_for_client(confirmation: Confirmation) -> dict[str, Json]:
    """Return a step that waits for a yes as the event `confirm` tells it."""
    return {
        "confirmation_id": confirmation.id,
        "tool": confirmation.tool,
        "arguments": dict(confirmation.arguments),
        "question": confirmation.question,
        "expires_at": confirmation.expires_at.isoformat(),
    }


def numbered_to_json(numbered: Numbered) -> dict[str, Json]:
    """Return a stored event: speech goes without its sound, which is made again from its text."""
    fields = event_to_json(numbered.event)
    if "audio" in fields:
        fields["audio"] = ""
    return {"number": numbered.number, "event": fields}


def numbered_from_json(fields: Mapping[str, Json]) -> Numbered:
    """Read a stored event."""
    return Numbered(fields["number"], event_from_json(fields["event"]))


def turn_to_json(turn: Turn) -> dict[str, Json]:
    """Return a turn as plain JSON, for stores and exports."""
    return _TURNS.dump_python(turn, mode="json")  # type: ignore[no-any-return]


def turn_from_json(fields: Mapping[str, Json]) -> Turn:
    """Read a stored turn."""
    return _TURNS.validate_python(fields)


def arguments_to_json(arguments: Mapping[str, Json]) -> str:
    """Write the arguments of a tool as models write them."""
    return json.dumps(dict(arguments), ensure_ascii=False)


class BadMessage(ValueError):
    """What a device sent is no message of the protocol; `ref` is its id where it can be told."""

    def __init__(self, ref: str | None) -> None:
        super().__init__("not a message of the protocol")
        self.ref = ref


def uplink_from_json(payload: bytes) -> Uplink:
    """Read what a device sent; fields that are not known are ignored; raises BadMessage."""
    ref = None
    try:
        # Pydantic reads bytes that are no UTF-8, lists and nests of any depth without falling over them.
        envelope = _ENVELOPES.validate_json(payload)
        if not is_message_id(envelope.id):
            raise BadMessage(None)
        ref = envelope.id
        return Uplink(id=envelope.id, at=envelope.at, said=_SAID.validate_json(payload))
    except ValidationError as error:
        raise BadMessage(ref) from error


def downlink_to_json(message: Mapping[str, Json]) -> bytes:
    """Write a message to a device as it travels."""
    return json.dumps(message, ensure_ascii=False).encode(errors="replace")
