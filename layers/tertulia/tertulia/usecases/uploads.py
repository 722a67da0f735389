"""Files that are sent apart from the request that uses them: announced, sent once with a ticket, used within an hour."""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import secrets
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from ulid import ULID

from tertulia.domain.errors import Conflict, InvalidValue, NotFound, TooLarge
from tertulia.ports import Blob, BlobStore, Clock
from tertulia.ports.transfers import ExpectedFile, Transfers, WayIn
from tertulia.usecases.attach import ATTACHMENT_BYTES, safe_name
from tertulia.usecases.hear import MOST_BYTES as VOICE_BYTES

USABLE_FOR = timedelta(hours=1)
UPLOADS = "upload-"
"""What the keys of uploads begin with."""
_ANY_TYPE = "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_ID = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")


class Purpose(StrEnum):
    """What an uploaded file is for."""

    AUDIO = "audio"
    ATTACHMENT = "attachment"


_LIMITS = {Purpose.AUDIO: (VOICE_BYTES, "25 MB"), Purpose.ATTACHMENT: (ATTACHMENT_BYTES, "20 MB")}


@dataclass(frozen=True, kw_only=True)
class Announced:
    """What a client says of a file before it sends it."""

    purpose: Purpose
    filename: str
    content_type: str
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Upload:
    """An announced file: its id, how it gets in, and until when it can be used."""

    id: str
    ticket: str
    """Lets it in once, where this server takes it."""
    way: WayIn | None
    """Where the file goes past this server."""
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class _About:
    purpose: str
    filename: str
    size: int
    sha256: str
    ticket: str
    """A digest of the ticket's secret."""
    is_here: bool = False


@dataclass(frozen=True)
class Uploads:
    """Announced and sent files, kept in the store of files."""

    blobs: BlobStore
    clock: Clock
    transfers: Transfers | None = None

    async def announce(self, user: str, announced: Announced) -> Upload:
        """Expect a file; TooLarge over the limit of its purpose."""
        limit, words = _LIMITS[announced.purpose]
        if announced.size > limit:
            raise TooLarge(f"File too large: at most {words}.")
        upload_id, secret = str(ULID()).lower(), secrets.token_urlsafe(32)
        about = _About(
            purpose=announced.purpose,
            filename=safe_name(announced.filename),
            size=announced.size,
            sha256=announced.sha256.lower(),
            ticket=_digest(secret.encode()),
        )
        now = self.clock.now()
        await self._keep(user, upload_id, about)
        expected = ExpectedFile(
            key=_content_key(upload_id),
            name=about.filename,
            media_type=_media_type(announced.content_type),
            size=about.size,
            sha256=about.sha256,
            announced_at=now,
        )
        way = await self._way_in(user, expected)
        return Upload(id=upload_id, ticket=_ticket(user, secret), way=way, expires_at=now + USABLE_FOR)

    async def receive(self, upload_id: str, ticket: str, data: bytes) -> None:
        """Take the file in; its ticket serves once, and its size and digest must be as announced."""
        user, secret = _read_ticket(ticket)
        about = await self._about(user, upload_id)
        if not hmac.compare_digest(about.ticket, _digest(secret.encode())):
            raise NotFound
        if about.is_here:
            raise Conflict("This upload was sent already.")
        await _compare(data, about)
        await self.blobs.put(user, self._blob(_content_key(upload_id), data, about.filename))
        await self._keep(user, upload_id, replace(about, is_here=True))

    async def open(self, user: str, upload_id: str, purpose: Purpose) -> Blob:
        """Return a sent file; NotFound for another user's or an expired one, InvalidValue for what was not announced."""
        about = await self._about(user, upload_id)
        if about.purpose != purpose:
            raise InvalidValue(f"This upload's purpose is {about.purpose}, not {purpose}.")
        try:
            blob = await self.blobs.get(user, _content_key(upload_id))
        except NotFound as error:
            raise InvalidValue("This upload was announced, but its file was not sent yet.") from error
        await _compare(blob.data, about)
        return blob

    async def forget(self, user: str, upload_id: str) -> None:
        """Delete a file that has served its purpose."""
        await self.blobs.remove(user, _content_key(upload_id))
        await self.blobs.remove(user, _about_key(upload_id))

    async def _way_in(self, user: str, expected: ExpectedFile) -> WayIn | None:
        if self.transfers is None:
            return None
        return await self.transfers.way_in(user, expected, int(USABLE_FOR.total_seconds()))

    async def _about(self, user: str, upload_id: str) -> _About:
        if not _ID.fullmatch(upload_id):
            raise NotFound
        blob = await self.blobs.get(user, _about_key(upload_id))
        if blob.created_at + USABLE_FOR < self.clock.now():
            await self.forget(user, upload_id)
            raise NotFound
        return _About(**json.loads(blob.data))

    async def _keep(self, user: str, upload_id: str, about: _About) -> None:
        await self.blobs.put(user, self._blob(_about_key(upload_id), json.dumps(asdict(about)).encode(), "about.json"))

    def _blob(self, key: str, data: bytes, name: str) -> Blob:
        return Blob(key=key, data=data, name=name, media_type=_ANY_TYPE, created_at=self.clock.now())


async def _compare(data: bytes, about: _About) -> None:
    if len(data) != about.size:
        raise InvalidValue(f"The file has {len(data):,} bytes; {about.size:,} were announced.")
    if await asyncio.to_thread(_digest, data) != about.sha256:
        raise InvalidValue("The file's sha256 is not the announced one.")


def _media_type(told: str) -> str:
    return told if _MEDIA_TYPE.fullmatch(told) else _ANY_TYPE


def _content_key(upload_id: str) -> str:
    return f"{UPLOADS}{upload_id}"


def _about_key(upload_id: str) -> str:
    return f"{UPLOADS}{upload_id}-about"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _ticket(user: str, secret: str) -> str:
    """Name the user in the ticket, since who sends the file shows nothing else."""
    return f"{base64.urlsafe_b64encode(user.encode()).decode().rstrip('=')}.{secret}"


def _read_ticket(ticket: str) -> tuple[str, str]:
    named, _, secret = ticket.partition(".")
    try:
        return base64.urlsafe_b64decode(named + "=" * (-len(named) % 4)).decode(), secret
    except ValueError as error:
        raise NotFound from error
