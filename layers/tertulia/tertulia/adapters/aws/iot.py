"""The way to devices over AWS IoT Core."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from tertulia.adapters.aws.calls import call
from tertulia.domain.prompts import Json
from tertulia.domain.topics import down_topic, speech_topic
from tertulia.wire import downlink_to_json

if TYPE_CHECKING:
    from mypy_boto3_iot_data import IoTDataPlaneClient


class IotLink:
    """Publishes to the topics of a device; the broker keeps what it cannot deliver while the session lasts."""

    def __init__(self, client: "IoTDataPlaneClient | None" = None) -> None:
        self._given = client

    async def send(self, device_id: str, message: Mapping[str, Json]) -> None:
        """Send one message."""
        await call(self._client.publish, topic=down_topic(device_id), qos=1, payload=downlink_to_json(message))

    async def send_speech(self, device_id: str, turn_id: str, slice_number: int, data: bytes) -> None:
        """Send one slice of speech."""
        topic = speech_topic(device_id, turn_id, slice_number)
        await call(self._client.publish, topic=topic, qos=1, payload=data)

    @cached_property
    def _client(self) -> "IoTDataPlaneClient":
        import boto3

        return self._given or boto3.client("iot-data")
