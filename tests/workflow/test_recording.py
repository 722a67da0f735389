"""A recording in the cloud: the shipped state machine over the shipped handlers, real decoding and real use cases."""

import math
import struct
from typing import TYPE_CHECKING

import pytest

from tertulia.adapters.aws.s3 import object_key
from tertulia.domain.errors import ModelBusy, ModelKey, NotFound
from tertulia.domain.recordings import Recording
from tertulia.domain.summaries import Vector
from tests.fakes.kept_turns import ME, NOON
from tests.sounds import silence, wav
from tests.workflow.cloud import Cloud
from tests.workflow.machine import MOST_STATE_BYTES, state_sizes

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PITCHES = (300, 400, 500)


def tones(*pitches: int, seconds: int = 2) -> bytes:
    """Return a tone after the other, 16 bits at 16 kHz; a pitch of nothing is silence."""
    return b"".join(_tone(pitch, seconds) if pitch else silence(seconds) for pitch in pitches)


def _tone(pitch: int, seconds: int) -> bytes:
    wave = (math.sin(place * math.tau * pitch / 16_000) for place in range(seconds * 16_000))
    return b"".join(struct.pack("<h", int(8_000 * sample)) for sample in wave)


async def recorded(cloud: Cloud, s3: "S3Client", file: bytes) -> Recording:
    """Keep a recording and its file, and hand it over."""
    s3.put_object(Bucket="tertulia", Key=object_key(ME, "r1.wav"), Body=file)
    kept = Recording(id="r1", user=ME, key="r1.wav", size=len(file), created_at=NOON, conversation_id="c1")
    await cloud.assistant.recordings.put(kept)
    await cloud.assistant.recording_workflow.start(kept)
    return kept


async def texts(cloud: Cloud) -> list[str | None]:
    kept = await cloud.assistant.recordings.get(ME, "r1")
    heard = [await cloud.assistant.recordings.transcript(kept, place) for place in range(len(kept.parts))]
    return [transcript.text if transcript else None for transcript in heard]


async def test_a_recording_is_heard_in_parts_summarized_and_found_again(cloud: Cloud, s3: "S3Client") -> None:
    await recorded(cloud, s3, wav(tones(*PITCHES)))

    assert cloud.recordings.ended("r1")["status"] == "SUCCEEDED"
    assert await texts(cloud) == [f"A tone of {pitch} Hz." for pitch in PITCHES]
    kept = await cloud.assistant.recordings.get(ME, "r1")
    assert kept.is_summarized
    assert kept.digest.title
    assert len(cloud.listener.digests) == cloud.functions.called("summarize_recording") == len(PITCHES)
    [values] = await cloud.assistant.embedder.embed([kept.digest.overview])
    vector = Vector(tuple(values), cloud.assistant.embedder.name)
    [match] = await cloud.assistant.summaries.nearest(ME, vector, limit=5)
    assert (match.conversation_id, match.title) == ("c1", kept.digest.title)
    assert max(state_sizes(cloud.recordings.history("r1"))) < 1_000 < MOST_STATE_BYTES


async def test_silence_in_a_recording_is_a_part_without_words_and_costs_no_model(cloud: Cloud, s3: "S3Client") -> None:
    await recorded(cloud, s3, wav(tones(300, 0, 500) + bytes(20)))

    assert cloud.recordings.ended("r1")["status"] == "SUCCEEDED"
    assert await texts(cloud) == ["A tone of 300 Hz.", "", "A tone of 500 Hz.", ""]
    assert len(cloud.listener.heard) == len(cloud.listener.digests) == 2


async def test_a_part_that_failed_is_heard_again_alone_when_somebody_asks(cloud: Cloud, s3: "S3Client") -> None:
    cloud.listener.deaf.append(ModelKey())
    await recorded(cloud, s3, wav(tones(*PITCHES)))

    assert cloud.recordings.ended("r1")["status"] == "FAILED"
    cloud.functions("record_failure", cloud.failure("r1", cloud.recordings))
    [failure] = await cloud.assistant.failed_follow_ups.failed()
    assert (failure.turn_id, failure.step, failure.error) == ("r1", "recording", "model_key")
    heard_before = len(cloud.listener.heard)

    assert await cloud.assistant.failed_follow_ups.retry("r1")
    assert cloud.recordings.ended("r1-retry-1")["status"] == "SUCCEEDED"
    assert await texts(cloud) == [f"A tone of {pitch} Hz." for pitch in PITCHES]
    assert len(cloud.listener.heard) == len(PITCHES) >= heard_before


async def test_a_busy_vendor_is_asked_again(cloud: Cloud, s3: "S3Client") -> None:
    cloud.listener.deaf += [ModelBusy(), ModelBusy()]
    await recorded(cloud, s3, wav(tones(300)))

    assert cloud.recordings.ended("r1")["status"] == "SUCCEEDED"
    assert cloud.functions.called("transcribe_recording") == 3


async def test_the_same_recording_handed_over_twice_is_one(cloud: Cloud, s3: "S3Client") -> None:
    kept = await recorded(cloud, s3, wav(tones(300)))
    cloud.recordings.ended("r1")

    await cloud.assistant.recording_workflow.start(kept)

    assert cloud.recordings.names() == ["r1"]
    assert len(cloud.listener.heard) == 1


@pytest.mark.parametrize("file", [b"", wav(b""), b"RIFF of nothing"], ids=["empty", "no samples", "no format"])
async def test_a_file_that_holds_no_sound_fails_at_once(cloud: Cloud, s3: "S3Client", file: bytes) -> None:
    await recorded(cloud, s3, file)

    assert cloud.recordings.ended("r1")["status"] == "FAILED"
    assert cloud.functions.called("cut_recording") == 1
    assert cloud.listener.heard == []


async def test_nobody_reads_another_users_recording(cloud: Cloud, s3: "S3Client") -> None:
    await recorded(cloud, s3, wav(tones(300)))

    with pytest.raises(NotFound):
        await cloud.assistant.recordings.get("somebody-else", "r1")
