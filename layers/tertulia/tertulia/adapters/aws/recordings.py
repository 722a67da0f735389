"""Recordings in the cloud: what is known of them in DynamoDB, their files in S3, read by ranges."""

from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from tertulia.adapters.aws.calls import call
from tertulia.adapters.aws.dynamodb import DynamoTable, Key
from tertulia.adapters.aws.s3 import object_key
from tertulia.adapters.documents import storable
from tertulia.domain.audio import Transcript
from tertulia.domain.errors import NotFound
from tertulia.domain.recordings import Recording

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_RECORDING = TypeAdapter(Recording)
_TRANSCRIPT = TypeAdapter(Transcript)


class AwsRecordings:
    """The recordings of one table and one bucket."""

    def __init__(self, table: DynamoTable, bucket: str, client: "S3Client | None" = None) -> None:
        self._table = table
        self._bucket = bucket
        self._given = client

    async def put(self, recording: Recording) -> None:
        """Keep a recording, in place of what was known of it."""
        document = storable(_RECORDING.dump_json(recording).decode())
        await self._table.put({**_key(recording.user, recording.id)._asdict(), "document": document})

    async def get(self, user: str, recording_id: str) -> Recording:
        """Return a recording of the user's, or raise NotFound."""
        item = await self._table.get(_key(user, recording_id))
        if item is None:
            raise NotFound
        return _RECORDING.validate_json(item["document"])

    async def read(self, recording: Recording, start: int, end: int) -> bytes:
        """Return some bytes of its file, fewer at its end; NotFound when the file is gone."""
        end = min(end, recording.size)
        if start >= end:
            return b""
        key = object_key(recording.user, recording.key)
        # Both ends of a range are in it.
        found = await call(self._client.get_object, Bucket=self._bucket, Key=key, Range=f"bytes={start}-{end - 1}")
        data: bytes = await call(found["Body"].read)
        return data

    async def keep_transcript(self, recording: Recording, place: int, transcript: Transcript) -> None:
        """Keep what was heard in a part."""
        document = storable(_TRANSCRIPT.dump_json(transcript).decode())
        await self._table.put({**_part_key(recording, place)._asdict(), "document": document})

    async def transcript(self, recording: Recording, place: int) -> Transcript | None:
        """Return what was heard in a part, or None where it was not heard yet."""
        item = await self._table.get(_part_key(recording, place))
        return _TRANSCRIPT.validate_json(item["document"]) if item else None

    @cached_property
    def _client(self) -> "S3Client":
        import boto3

        return self._given or boto3.client("s3")


def _key(user: str, recording_id: str) -> Key:
    return Key(f"USER#{user}", f"RECORDING#{recording_id}")


def _part_key(recording: Recording, place: int) -> Key:
    return Key(f"USER#{recording.user}", f"RECORDING#{recording.id}#PART#{place:05d}")
