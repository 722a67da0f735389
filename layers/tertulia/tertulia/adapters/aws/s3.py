"""Files of users in an S3 bucket."""

import base64
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from tertulia.adapters.aws.calls import call
from tertulia.adapters.blob_keys import checked_key, folder_of, is_key
from tertulia.domain.errors import NotFound
from tertulia.ports import Blob
from tertulia.ports.transfers import ExpectedFile, WayIn

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_s3 import S3Client

PASSING = MappingProxyType({"upload": "uploads", "answer": "answers", "export": "exports"})
"""Where files lie whose keys begin so: rules of the bucket delete what is there, after a day, exports after a week."""

_FILES = "files"
_MOST_NAME_CHARACTERS = 1_500
"""What is known about an object has 2 KB, and only in ASCII."""


class S3Blobs:
    """Each file as one object, under a folder for each user."""

    def __init__(self, bucket: str, client: "S3Client | None" = None) -> None:
        self._bucket = bucket
        self._given = client

    async def put(self, user: str, blob: Blob) -> None:
        """Keep a file; the same key again replaces it."""
        await call(
            self._client.put_object,
            Bucket=self._bucket,
            Key=object_key(user, checked_key(blob.key)),
            Body=blob.data,
            ContentType=blob.media_type,
            Metadata=_metadata(blob.name, blob.created_at),
        )

    async def get(self, user: str, key: str) -> Blob:
        """Return a file of the user's, or raise NotFound."""
        if not is_key(key):
            raise NotFound
        found = await call(self._client.get_object, Bucket=self._bucket, Key=object_key(user, key))
        return Blob(
            key=key,
            data=await call(found["Body"].read),
            name=unquote(found["Metadata"]["name"]),
            media_type=found["ContentType"],
            created_at=datetime.fromisoformat(found["Metadata"]["created-at"]),
        )

    async def remove(self, user: str, key: str) -> None:
        """Delete a file; deleting what is not there is fine."""
        if is_key(key):
            await call(self._client.delete_object, Bucket=self._bucket, Key=object_key(user, key))

    async def older(self, user: str, before: datetime, prefix: str = "") -> list[str]:
        """Return the keys of the user's files made before then, of those whose key begins so."""
        keys: list[str] = []
        for folder in (_folder(prefix),) if prefix else (_FILES, _folder("upload")):
            root = f"{folder}/{folder_of(user)}/"
            pages = await call(
                lambda root=root: list(
                    self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=root + prefix)
                )
            )
            found = [each for page in pages for each in page.get("Contents", ())]
            keys += [each["Key"].removeprefix(root) for each in found if each["LastModified"] < before]
        return keys

    async def way_in(self, user: str, expected: ExpectedFile, seconds: int) -> WayIn:
        """Let in exactly this file, for so long."""
        fields = {
            "Content-Type": expected.media_type,
            "x-amz-checksum-algorithm": "SHA256",
            "x-amz-checksum-sha256": base64.b64encode(bytes.fromhex(expected.sha256)).decode(),
        }
        metadata = _metadata(expected.name, expected.announced_at)
        fields |= {f"x-amz-meta-{name}": value for name, value in metadata.items()}
        conditions: list[Any] = [{name: value} for name, value in fields.items()]
        signed = await call(
            self._client.generate_presigned_post,
            Bucket=self._bucket,
            Key=object_key(user, checked_key(expected.key)),
            Fields=fields,
            Conditions=[*conditions, ["content-length-range", expected.size, expected.size]],
            ExpiresIn=seconds,
        )
        return WayIn(url=signed["url"], fields=signed["fields"])

    async def way_out(self, user: str, key: str, seconds: int) -> str:
        """Return an address that gives a file to whoever has it, for so long."""
        wanted = {"Bucket": self._bucket, "Key": object_key(user, checked_key(key)), "ResponseCacheControl": "no-store"}
        address: str = await call(
            self._client.generate_presigned_url, ClientMethod="get_object", Params=wanted, ExpiresIn=seconds
        )
        return address

    @cached_property
    def _client(self) -> "S3Client":
        import boto3

        return self._given or boto3.client("s3", config=signing())


def signing() -> "Config":
    """Return how addresses are signed: by itself the SDK names the world's S3, which sends browsers on, and they refuse."""
    from botocore.config import Config

    return Config(signature_version="s3v4", s3={"addressing_style": "virtual"})


def object_key(user: str, key: str) -> str:
    """Return the name of a file's object."""
    return f"{_folder(key)}/{folder_of(user)}/{key}"


def _folder(key: str) -> str:
    return PASSING.get(key.partition("-")[0], _FILES)


def _metadata(name: str, created_at: datetime) -> dict[str, str]:
    return {"name": _quoted(name), "created-at": created_at.isoformat()}


def _quoted(name: str) -> str:
    """Write a name in ASCII, cut at a whole character."""
    while len(quoted := quote(name, errors="replace")) > _MOST_NAME_CHARACTERS:
        name = name[:-1]
    return quoted
