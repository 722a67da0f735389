"""Devices, their messages and their recordings under way in SQLite."""

import json
from collections.abc import Mapping
from datetime import datetime
from sqlite3 import IntegrityError, Row

from tertulia.adapters.cursors import sortable
from tertulia.adapters.device_documents import KEPT, start_document, start_of
from tertulia.adapters.embedded.sqlite import Database
from tertulia.domain.devices import Device, UtteranceStart
from tertulia.domain.errors import Conflict, NotFound
from tertulia.domain.prompts import Json
from tertulia.ports import Clock
from tertulia.ports.devices import Kept


class SqliteDevices:
    """Which device is whose."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, device: Device) -> None:
        """Keep a new device; raises Conflict for an id that is taken."""
        fields = (device.id, device.user, device.name, device.kind, sortable(device.created_at))
        async with self._database.writing() as connection:
            try:
                await connection.execute(
                    "INSERT INTO devices (id, user, name, kind, created_at) VALUES (?, ?, ?, ?, ?)", fields
                )
            except IntegrityError as error:
                raise Conflict("There is a device of this id already.") from error

    async def find(self, device_id: str) -> Device | None:
        """Return a device, revoked or not."""
        row = await self._database.row("SELECT * FROM devices WHERE id = ?", (device_id,))
        return _device(row) if row else None

    async def of(self, user: str) -> list[Device]:
        """Return the user's devices that are not revoked, newest first."""
        rows = await self._database.rows(
            "SELECT * FROM devices WHERE user = ? AND revoked_at IS NULL ORDER BY created_at DESC, id DESC", (user,)
        )
        return [_device(row) for row in rows]

    async def wish(self, device_id: str, wishes: Mapping[str, Json]) -> None:
        """Keep what a device asked for when it connected."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute(
                "UPDATE devices SET wishes = ? WHERE id = ?", (json.dumps(dict(wishes)), device_id)
            )

    async def revoke(self, user: str, device_id: str, at: datetime) -> None:
        """Hear the device no more."""
        async with self._database.writing() as connection:
            done = await connection.execute(
                "UPDATE devices SET revoked_at = ? WHERE id = ? AND user = ? AND revoked_at IS NULL",
                (sortable(at), device_id, user),
            )
            if not done.rowcount:
                raise NotFound


class SqliteDeviceInbox:
    """Messages of devices, kept for a day."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def accept(self, message: Kept) -> Kept:
        """Keep the message and return it, or return the one that came first under its id."""
        async with self._database.writing() as connection:
            await connection.execute(
                "DELETE FROM device_messages WHERE received_at <= ?", (sortable(self._clock.now() - KEPT),)
            )
            await connection.execute(
                "INSERT INTO device_messages (device_id, id, payload, turn_id, received_at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (device_id, id) DO NOTHING",
                (message.device_id, message.id, message.payload, message.turn_id, sortable(message.received_at)),
            )
            [row] = await connection.execute_fetchall(
                "SELECT * FROM device_messages WHERE device_id = ? AND id = ?", (message.device_id, message.id)
            )
        return _kept(row)

    async def find(self, device_id: str, message_id: str) -> Kept | None:
        """Return a message that was accepted."""
        row = await self._database.row(
            "SELECT * FROM device_messages WHERE device_id = ? AND id = ? AND received_at > ?",
            (device_id, message_id, sortable(self._clock.now() - KEPT)),
        )
        return _kept(row) if row else None

    async def expect(self, device_id: str, start: UtteranceStart, at: datetime) -> None:
        """Keep what was said of an utterance when it began."""
        async with self._database.writing() as connection:
            await connection.execute(
                "DELETE FROM device_utterances WHERE received_at <= ?", (sortable(self._clock.now() - KEPT),)
            )
            await connection.execute(
                "INSERT OR REPLACE INTO device_utterances (device_id, utterance, start, received_at)"
                " VALUES (?, ?, ?, ?)",
                (device_id, start.utterance, start_document(start), sortable(at)),
            )

    async def expected(self, device_id: str, utterance: str) -> UtteranceStart | None:
        """Return what was said of an utterance when it began."""
        row = await self._database.row(
            "SELECT start FROM device_utterances WHERE device_id = ? AND utterance = ?", (device_id, utterance)
        )
        return start_of(row["start"]) if row else None


class SqliteUtteranceSlices:
    """Slices of recordings."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def put(self, device_id: str, utterance: str, number: int, data: bytes) -> None:
        """Keep a slice, and forget those of a day ago."""
        now = self._clock.now()
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute("DELETE FROM utterance_slices WHERE received_at <= ?", (sortable(now - KEPT),))
            await connection.execute(
                "INSERT OR REPLACE INTO utterance_slices (device_id, utterance, number, data, received_at)"
                " VALUES (?, ?, ?, ?, ?)",
                (device_id, utterance, number, data, sortable(now)),
            )

    async def numbers(self, device_id: str, utterance: str) -> list[int]:
        """Return which slices are there, in order."""
        rows = await self._database.rows(
            "SELECT number FROM utterance_slices WHERE device_id = ? AND utterance = ? ORDER BY number",
            (device_id, utterance),
        )
        return [row["number"] for row in rows]

    async def joined(self, device_id: str, utterance: str, slices: int) -> bytes:
        """Return the first slices, joined in order."""
        rows = await self._database.rows(
            "SELECT data FROM utterance_slices WHERE device_id = ? AND utterance = ? AND number < ? ORDER BY number",
            (device_id, utterance, slices),
        )
        if len(rows) != slices:
            raise NotFound
        return b"".join(row["data"] for row in rows)

    async def remove(self, device_id: str, utterance: str) -> None:
        """Delete the slices of an utterance."""
        async with self._database.writing(survives_power_loss=False) as connection:
            await connection.execute(
                "DELETE FROM utterance_slices WHERE device_id = ? AND utterance = ?", (device_id, utterance)
            )


def _device(row: Row) -> Device:
    return Device(
        id=row["id"],
        user=row["user"],
        name=row["name"],
        kind=row["kind"],
        created_at=datetime.fromisoformat(row["created_at"]),
        revoked_at=datetime.fromisoformat(row["revoked_at"]) if row["revoked_at"] else None,
        wishes=json.loads(row["wishes"]),
    )


def _kept(row: Row) -> Kept:
    return Kept(**{**dict(row), "received_at": datetime.fromisoformat(row["received_at"])})
