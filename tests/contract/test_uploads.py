"""What uploads promise, whether this server takes the file or it goes straight to the bucket."""

import base64
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import httpx
import pytest
from moto.server import ThreadedMotoServer

from tertulia.adapters.aws.s3 import S3Blobs, object_key, signing
from tertulia.adapters.embedded.files import FileBlobs
from tertulia.domain.errors import InvalidValue, NotFound, TooLarge
from tertulia.ports import Blob
from tertulia.ports.transfers import ExpectedFile
from tertulia.usecases.uploads import Announced, Purpose, Upload, Uploads
from tests.contract.conftest import NOBODY
from tests.fakes.clock import FakeClock

MEGABYTE = 1024 * 1024
DATA = bytes(range(256)) * 3
_numbers = count(1)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where files are uploaded, and how a client sends them there."""

    uploads: Uploads
    send: Callable[[Upload, bytes], Awaitable[None]]


@pytest.fixture(scope="module")
def bucket_service() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(bucket_service: str) -> S3Blobs:
    client = boto3.client("s3", endpoint_url=bucket_service, config=signing(), **NOBODY)
    name = f"tertulia-{next(_numbers)}"
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    return S3Blobs(name, client)


async def post_form(upload: Upload, data: bytes) -> None:
    assert upload.way is not None
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(upload.way.url, data=dict(upload.way.fields), files={"file": ("any name", data)})
    assert answer.is_success, answer.text


@pytest.fixture(params=["files", "s3"])
def place(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Place:
    if request.param == "s3":
        bucket: S3Blobs = request.getfixturevalue("bucket")
        return Place(uploads=Uploads(bucket, clock, bucket), send=post_form)
    uploads = Uploads(FileBlobs(tmp_path / "files"), clock)
    return Place(uploads=uploads, send=lambda upload, data: uploads.receive(upload.id, upload.ticket, data))


def announced(data: bytes, purpose: Purpose = Purpose.ATTACHMENT, **more: Any) -> Announced:
    told: dict[str, Any] = {"filename": "año 图.bin", "content_type": "text/plain", "size": len(data)} | more
    return Announced(purpose=purpose, sha256=hashlib.sha256(data).hexdigest(), **told)


async def test_a_sent_file_comes_back_whole_and_with_its_name(place: Place) -> None:
    upload = await place.uploads.announce("me", announced(DATA))
    await place.send(upload, DATA)
    opened = await place.uploads.open("me", upload.id, Purpose.ATTACHMENT)
    assert (opened.data, opened.name) == (DATA, "año 图.bin")


async def test_a_file_may_be_empty_and_its_name_and_kind_may_be_anything(place: Place) -> None:
    upload = await place.uploads.announce("me", announced(b"", filename="部" * 300, content_type='<é>\r\nX: "'))
    await place.send(upload, b"")
    opened = await place.uploads.open("me", upload.id, Purpose.ATTACHMENT)
    assert opened.data == b""
    assert set(opened.name) == {"部"}


@pytest.mark.parametrize(("purpose", "most"), [(Purpose.ATTACHMENT, 20 * MEGABYTE), (Purpose.AUDIO, 25_000_000)])
async def test_the_largest_file_works_and_one_byte_more_is_refused(place: Place, purpose: Purpose, most: int) -> None:
    """Case Y1."""
    data = bytes(most)
    upload = await place.uploads.announce("me", announced(data, purpose))
    await place.send(upload, data)
    assert (await place.uploads.open("me", upload.id, purpose)).data == data
    with pytest.raises(TooLarge):
        await place.uploads.announce("me", announced(b"", purpose, size=most + 1))


@pytest.mark.parametrize("sent", [b"", DATA[:-1], DATA + b"\0", DATA[::-1]])
async def test_what_was_not_announced_cannot_be_used(place: Place, sent: bytes) -> None:
    upload = await place.uploads.announce("me", announced(DATA))
    with pytest.raises(InvalidValue):
        await _sent_and_opened(place, upload, sent)


async def _sent_and_opened(place: Place, upload: Upload, data: bytes) -> Blob:
    await place.send(upload, data)
    return await place.uploads.open("me", upload.id, Purpose.ATTACHMENT)


async def test_a_file_that_was_not_sent_yet_cannot_be_used(place: Place) -> None:
    upload = await place.uploads.announce("me", announced(DATA))
    with pytest.raises(InvalidValue, match="not sent yet"):
        await place.uploads.open("me", upload.id, Purpose.ATTACHMENT)


async def test_a_file_serves_its_purpose_only(place: Place) -> None:
    upload = await place.uploads.announce("me", announced(DATA))
    await place.send(upload, DATA)
    with pytest.raises(InvalidValue, match="attachment"):
        await place.uploads.open("me", upload.id, Purpose.AUDIO)


async def test_a_file_is_its_users_own_and_usable_for_an_hour(place: Place, clock: FakeClock) -> None:
    upload = await place.uploads.announce("me", announced(DATA))
    await place.send(upload, DATA)
    with pytest.raises(NotFound):
        await place.uploads.open("you", upload.id, Purpose.ATTACHMENT)
    clock.move(minutes=61)
    with pytest.raises(NotFound):
        await place.uploads.open("me", upload.id, Purpose.ATTACHMENT)


async def test_a_forgotten_file_is_gone(place: Place) -> None:
    upload = await place.uploads.announce("me", announced(DATA))
    await place.send(upload, DATA)
    await place.uploads.forget("me", upload.id)
    with pytest.raises(NotFound):
        await place.uploads.open("me", upload.id, Purpose.ATTACHMENT)


async def test_the_bucket_is_told_to_let_in_exactly_the_announced_file_for_an_hour(
    bucket: S3Blobs, clock: FakeClock
) -> None:
    upload = await Uploads(bucket, clock, bucket).announce("me", announced(DATA))
    assert upload.way is not None
    fields = dict(upload.way.fields)
    policy = json.loads(base64.b64decode(fields["policy"]))
    told = {name: value for each in policy["conditions"] if isinstance(each, dict) for name, value in each.items()}
    assert ["content-length-range", len(DATA), len(DATA)] in policy["conditions"]
    assert told["key"] == object_key("me", f"upload-{upload.id}")
    assert told["x-amz-checksum-algorithm"] == "SHA256"
    assert base64.b64decode(told["x-amz-checksum-sha256"]) == hashlib.sha256(DATA).digest()
    assert told["Content-Type"] == "text/plain"
    # A field that no condition names is refused.
    assert set(fields) <= {*told, "policy", "x-amz-signature"}
    assert all(fields[name] == value for name, value in told.items() if name in fields)
    assert all(value.isascii() and value.isprintable() for value in fields.values())


def test_clients_are_sent_to_the_region_itself() -> None:
    """The world's own address sends them on to there, which browsers refuse of another origin."""
    client = boto3.client("s3", config=signing(), **NOBODY)
    told = client.generate_presigned_post("tertulia-files", "a")
    assert told["url"] == "https://tertulia-files.s3.eu-central-1.amazonaws.com/"
    assert told["fields"]["x-amz-algorithm"] == "AWS4-HMAC-SHA256"


async def test_a_file_is_fetched_by_whoever_has_its_address(bucket: S3Blobs, clock: FakeClock) -> None:
    answer = Blob(key="answer-1", data=DATA, name="answer", media_type="audio/wav", created_at=clock.now())
    await bucket.put("me", answer)
    address = await bucket.way_out("me", "answer-1", 300)
    async with httpx.AsyncClient() as client:
        fetched = await client.get(address)
    assert fetched.content == DATA
    assert fetched.headers["content-type"] == "audio/wav"
    signed = parse_qs(urlsplit(address).query)
    assert signed["X-Amz-Expires"] == ["300"]
    assert signed["response-cache-control"] == ["no-store"]


@pytest.mark.parametrize("key", ["../a", "", "A"])
async def test_only_keys_of_the_servers_making_have_a_way(bucket: S3Blobs, clock: FakeClock, key: str) -> None:
    expected = ExpectedFile(key=key, name="", media_type="a/b", size=0, sha256="", announced_at=clock.now())
    with pytest.raises(InvalidValue):
        await bucket.way_in("me", expected, 1)
    with pytest.raises(InvalidValue):
        await bucket.way_out("me", key, 1)
