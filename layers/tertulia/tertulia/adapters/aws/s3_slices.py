"""Slices of recordings in S3, where a rule of the broker puts them down."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

from tertulia.adapters.aws.calls import call
from tertulia.domain.devices import is_device_id, is_message_id
from tertulia.domain.errors import NotFound

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_AT_ONCE = 8


class S3UtteranceSlices:
    """Each slice as one object; the bucket forgets them after a day."""

    def __init__(self, bucket: str, client: "S3Client | None" = None) -> None:
        self._bucket = bucket
        self._given = client

    async def put(self, device_id: str, utterance: str, number: int, data: bytes) -> None:
        """Keep a slice, as the rule does."""
        key = f"{_folder(device_id, utterance)}{number}"
        await call(self._client.put_object, Bucket=self._bucket, Key=key, Body=data)

    async def numbers(self, device_id: str, utterance: str) -> list[int]:
        """Return which slices are there, in order."""
        folder = _folder(device_id, utterance)
        names = [key.removeprefix(folder) for key in await self._keys(folder)]
        return sorted(int(name) for name in names if name.isdecimal())

    async def joined(self, device_id: str, utterance: str, slices: int) -> bytes:
        """Return the first slices, joined in order."""
        folder, places = _folder(device_id, utterance), asyncio.Semaphore(_AT_ONCE)

        async def one(number: int) -> bytes:
            async with places:
                found = await call(self._client.get_object, Bucket=self._bucket, Key=f"{folder}{number}")
                return bytes(await call(found["Body"].read))

        return b"".join(await asyncio.gather(*(one(number) for number in range(slices))))

    async def remove(self, device_id: str, utterance: str) -> None:
        """Delete the slices of an utterance."""
        for key in await self._keys(_folder(device_id, utterance)):
            await call(self._client.delete_object, Bucket=self._bucket, Key=key)

    async def _keys(self, folder: str) -> list[str]:
        keys: list[str] = []
        after = ""
        while True:
            page = await call(self._client.list_objects_v2, Bucket=self._bucket, Prefix=folder, StartAfter=after)
            keys += [each["Key"] for each in page.get("Contents", ())]
            if not page.get("IsTruncated"):
                return keys
            after = keys[-1]

    @cached_property
    def _client(self) -> "S3Client":
        import boto3

        return self._given or boto3.client("s3")


def _folder(device_id: str, utterance: str) -> str:
    if not (is_device_id(device_id) and is_message_id(utterance)):
        raise NotFound
    return f"utterances/{device_id}/{utterance}/"
