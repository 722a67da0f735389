"""Devices and their messages in DynamoDB."""

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime

from tertulia.adapters.aws.calls import ConditionFailed
from tertulia.adapters.aws.dynamodb import DynamoTable, Item, Key, Query
from tertulia.adapters.cursors import sortable
from tertulia.adapters.device_documents import KEPT, start_document, start_of
from tertulia.domain.devices import Device, UtteranceStart
from tertulia.domain.errors import Conflict, NotFound, Unavailable
from tertulia.domain.prompts import Json
from tertulia.ports import Clock
from tertulia.ports.devices import Kept

_IS_NEW = "attribute_not_exists(#pk)"
_IS_NEW_OR_OLD = "attribute_not_exists(#pk) OR #expires_at <= :now"


class DynamoDevices:
    """Which device is whose: one item decides, another lists it for its user."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    async def add(self, device: Device) -> None:
        """Keep a new device; raises Conflict for an id that is taken."""
        item = {
            **_device_key(device.id)._asdict(),
            "id": device.id,
            "user": device.user,
            "name": device.name,
            "kind": device.kind,
            "created_at": sortable(device.created_at),
            "wishes": json.dumps(dict(device.wishes)),
        }
        try:
            await self._table.put(item, _IS_NEW)
        except ConditionFailed as error:
            raise Conflict("There is a device of this id already.") from error
        await self._table.put({**_listed_key(device.user, device.id)._asdict(), "id": device.id})

    async def find(self, device_id: str) -> Device | None:
        """Return a device, revoked or not."""
        item = await self._table.get(_device_key(device_id))
        return _device(item) if item else None

    async def of(self, user: str) -> list[Device]:
        """Return the user's devices that are not revoked, newest first."""
        query = Query(pk=f"USER#{user}", condition="begins_with(#sk, :devices)", values={":devices": "DEVICE#"})
        listed = await self._table.query(query)
        found = await asyncio.gather(*(self.find(item["id"]) for item in listed))
        devices = [device for device in found if device and device.revoked_at is None]
        return sorted(devices, key=lambda device: (device.created_at, device.id), reverse=True)

    async def wish(self, device_id: str, wishes: Mapping[str, Json]) -> None:
        """Keep what a device asked for when it connected."""
        try:
            await self._table.change(
                _device_key(device_id),
                "SET #wishes = :wishes",
                "attribute_exists(#pk)",
                {":wishes": json.dumps(dict(wishes))},
            )
        except ConditionFailed:
            return

    async def revoke(self, user: str, device_id: str, at: datetime) -> None:
        """Hear the device no more."""
        try:
            await self._table.change(
                _device_key(device_id),
                "SET #revoked_at = :at",
                "#user = :user AND attribute_not_exists(#revoked_at)",
                {":at": sortable(at), ":user": user},
            )
        except ConditionFailed as error:
            raise NotFound from error


class DynamoDeviceInbox:
    """Messages of devices, kept for a day."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def accept(self, message: Kept) -> Kept:
        """Keep the message and return it, or return the one that came first under its id."""
        item = {
            **_message_key(message.device_id, message.id)._asdict(),
            "device_id": message.device_id,
            "id": message.id,
            "payload": message.payload,
            "turn_id": message.turn_id,
            "received_at": sortable(message.received_at),
            "expires_at": int((message.received_at + KEPT).timestamp()),
        }
        try:
            await self._table.put(item, _IS_NEW_OR_OLD, {":now": int(self._clock.now().timestamp())})
        except ConditionFailed as error:
            if (first := await self.find(message.device_id, message.id)) is None:
                raise Unavailable from error
            return first
        return message

    async def find(self, device_id: str, message_id: str) -> Kept | None:
        """Return a message that was accepted."""
        item = await self._table.get(_message_key(device_id, message_id))
        if item is None or item["expires_at"] <= self._clock.now().timestamp():
            return None
        fields = {name: item[name] for name in ("device_id", "id", "payload", "turn_id")}
        return Kept(**fields, received_at=datetime.fromisoformat(item["received_at"]))

    async def expect(self, device_id: str, start: UtteranceStart, at: datetime) -> None:
        """Keep what was said of an utterance when it began."""
        expires_at = int((at + KEPT).timestamp())
        key = _utterance_key(device_id, start.utterance)
        await self._table.put({**key._asdict(), "start": start_document(start), "expires_at": expires_at})

    async def expected(self, device_id: str, utterance: str) -> UtteranceStart | None:
        """Return what was said of an utterance when it began."""
        item = await self._table.get(_utterance_key(device_id, utterance))
        return start_of(item["start"]) if item else None


def _device_key(device_id: str) -> Key:
    return Key(f"DEVICE#{device_id}", "DEVICE")


def _listed_key(user: str, device_id: str) -> Key:
    return Key(f"USER#{user}", f"DEVICE#{device_id}")


def _message_key(device_id: str, message_id: str) -> Key:
    return Key(f"DEVICE#{device_id}", f"MESSAGE#{message_id}")


def _utterance_key(device_id: str, utterance: str) -> Key:
    return Key(f"DEVICE#{device_id}", f"UTTERANCE#{utterance}")


def _device(item: Item) -> Device:
    return Device(
        id=item["id"],
        user=item["user"],
        name=item["name"],
        kind=item["kind"],
        created_at=datetime.fromisoformat(item["created_at"]),
        revoked_at=datetime.fromisoformat(item["revoked_at"]) if "revoked_at" in item else None,
        wishes=json.loads(item["wishes"]),
    )
