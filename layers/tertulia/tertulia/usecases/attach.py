"""Files that come with a question: kept under a key of ours, judged by their bytes, their words read."""

import asyncio
import codecs
import mimetypes
import re
import unicodedata
from dataclasses import dataclass

from ulid import ULID

from tertulia.domain.errors import TooLarge
from tertulia.domain.turns import Attachment
from tertulia.ports import Blob, BlobStore, Clock

MEGABYTE = 1024 * 1024
ATTACHMENT_BYTES = 20 * MEGABYTE
MOST_CHARACTERS = 10_000
"""How much of a file's words a model is shown."""
CUT_MARK = "\n[… cut here]"

_MOST_NAME_CHARACTERS = 120
_NAME_WITHOUT_ONE = "file"
_RESERVED_NAME = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"BM", 0, "image/bmp"),
    (b"ftypheic", 4, "image/heic"),
    (b"ftypavif", 4, "image/avif"),
    (b"%PDF-", 0, "application/pdf"),
    (b"PK\x03\x04", 0, "application/zip"),
)
_ENCODINGS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class Attach:
    """Keeps a file that came with a question."""

    blobs: BlobStore
    clock: Clock

    async def __call__(self, user: str, name: str | None, data: bytes) -> Attachment:
        """Keep the file and return what a turn needs to know of it; TooLarge over 20 MB."""
        if len(data) > ATTACHMENT_BYTES:
            raise TooLarge("File too large: at most 20 MB.")
        attachment = await asyncio.to_thread(attachment_of, safe_name(name), data, f"attachment-{ULID()}".lower())
        await self.blobs.put(
            user,
            Blob(
                key=attachment.key,
                data=data,
                name=attachment.name,
                media_type=attachment.media_type,
                created_at=self.clock.now(),
            ),
        )
        return attachment


def attachment_of(name: str, data: bytes, key: str) -> Attachment:
    """Judge a file by its bytes and read its words; its name only tells one kind of text from another."""
    media_type = _binary_type(data)
    text = None if media_type else _words(data)
    if text is None:
        return Attachment(name=name, media_type=media_type or "application/octet-stream", size=len(data), key=key)
    named = mimetypes.guess_type(name)[0] or ""
    is_text = named.startswith("text/") or named.endswith(("json", "xml", "yaml"))
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS] + CUT_MARK
    return Attachment(name=name, media_type=named if is_text else "text/plain", size=len(data), text=text, key=key)


def _binary_type(data: bytes) -> str | None:
    found = (kind for signature, place, kind in _SIGNATURES if data.startswith(signature, place))
    kind = next(found, None)
    # Two letters are too little to tell a picture from a text that begins with them.
    return None if kind == "image/bmp" and b"\x00" not in data[:64] else kind


def _words(data: bytes) -> str | None:
    encoding = next((encoding for mark, encoding in _ENCODINGS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def safe_name(name: str | None) -> str:
    """Return a name fit to be shown and saved anywhere: no path, nothing invisible, not hidden, not too long."""
    plain = unicodedata.normalize("NFC", re.split(r"[/\\]", name or "")[-1])
    seen = "".join(character for character in plain if character.isprintable() and character not in '<>:"|?*')
    seen = seen.lstrip(". ").rstrip(". ")
    if _RESERVED_NAME.fullmatch(seen):
        seen = f"_{seen}"
    if len(seen) > _MOST_NAME_CHARACTERS:
        stem, dot, ending = seen.rpartition(".")
        kept = dot + ending if stem and len(ending) <= 10 else ""  # noqa: PLR2004  # longer is no file ending
        seen = seen[: _MOST_NAME_CHARACTERS - len(kept)] + kept
    return seen or _NAME_WITHOUT_ONE
