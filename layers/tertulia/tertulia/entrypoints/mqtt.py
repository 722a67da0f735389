"""The way in for devices: one JSON message, as a rule of the broker hands it over."""

import base64
import binascii

from tertulia.assistant import Assistant
from tertulia.domain.errors import InvalidRequest
from tertulia.domain.prompts import Json
from tertulia.entrypoints.tasks import Event


async def receive(assistant: Assistant, event: Event) -> Json:
    """Take in `{payload, device}`: the payload in base64, since a device may send what is no JSON."""
    device, payload = event.get("device"), event.get("payload")
    if not isinstance(device, str) or not isinstance(payload, str):
        raise InvalidRequest
    try:
        message = base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest from error
    await assistant.device_desk.receive(device, message)
    return {}
