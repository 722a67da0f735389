"""The topics of a device; whatever stands in one has been checked, so none gains a level or a wildcard."""

from tertulia.domain.devices import is_device_id, is_message_id

ROOT = "tertulia/v1"


def down_topic(device_id: str) -> str:
    """Return where a device gets its messages."""
    return f"{_of(device_id)}/down"


def speech_topic(device_id: str, turn_id: str, number: int) -> str:
    """Return where a device gets a slice of speech."""
    if not is_message_id(turn_id):
        raise ValueError("this turn id cannot stand in a topic")
    return f"{_of(device_id)}/speech/{turn_id}/{number}"


def _of(device_id: str) -> str:
    if not is_device_id(device_id):
        raise ValueError("this device id cannot stand in a topic")
    return f"{ROOT}/{device_id}"
